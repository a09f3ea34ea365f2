"""simple_separated_format warns where it is called, and works as before."""

import pathlib
import re
import warnings

import tabulate

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    made = tabulate.simple_separated_format("|")
assert [item.category for item in caught] == [DeprecationWarning], "no DeprecationWarning, or more than one"
assert caught[0].filename == __file__, "the warning names another place than the caller"
assert "separated_format" in str(caught[0].message).replace("simple_separated_format", ""), "it does not name the new function"
with warnings.catch_warnings():
    warnings.simplefilter("error")
    new = tabulate.separated_format("|")
assert new == made, "the new function gives something else"
assert tabulate.tabulate([[1, 2]], tablefmt=new) == "1|2", "the table"
assert {"separated_format", "simple_separated_format"} <= set(tabulate.__all__), "__all__"
tests = pathlib.Path("test/test_api.py").read_text(encoding="utf-8")
assert re.search(r"pytest\.warns\(\s*DeprecationWarning|warns\(DeprecationWarning|catch_warnings", tests), "no test of the warning"
