"""The error is raised, and dates and times are read as before."""

import parse

try:
    parse.strf_date_convert("%", None, "%%")
except ValueError as error:
    assert "date" in str(error), "another error"
else:
    raise AssertionError("nothing is raised")
assert parse.parse("{:%Y-%m-%d}", "2024-05-06")[0].isoformat() == "2024-05-06", "a date"
assert parse.parse("{:%H:%M}", "12:30")[0].hour == 12, "a time"
