; Symbols of Python.
