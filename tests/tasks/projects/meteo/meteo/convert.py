"""Units."""


def to_fahrenheit(celsius: float) -> float:
    return celsius * 9 / 5 + 32


def to_kelvin(celsius: float) -> float:
    return celsius + 273.15


def rounded(value: float, digits: int = 1) -> float:
    """Never minus zero."""
    return round(value, digits) + 0.0
