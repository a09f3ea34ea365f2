"""Thirty small tasks, ten a mode. Those that a language server's quick fix can solve go to the offline model.

Some scripts make a mistake first: a text that is not there, an edit that introduces an error, a reach outside the
scope, an answer that is no JSON, a plan that does not fit the project. What then comes back is looked at before the
mistake is mended.
"""

import typing

from judge import Aim
from scripted import Asked, Reply, call, done, plan, prose, step
from task import Task, Work, offline, scripted, see
from works import CONVERT, LOANS, READINGS, REPORT, STATISTICS, STOCK, SUMMARY, TEST_STATISTICS, TEST_SUMMARY, WHERE_RIGHT, replace

Talk = typing.Generator[Reply, Asked, None]
FIX = "fix the warnings and errors in this file"


def quick(name: str, project: str, file: str, gone: "list[str]", *plants: "tuple[str, str]") -> Work:
    """Something in one file that the servers' own quick fixes mend."""
    aim = Aim({file}, gone=[(file, code) for code in gone])
    return Work(name, project, FIX, aim, ["--file", file], [(file, old, new) for old, new in plants])


UNUSED_OS = ('"""Units."""\n', '"""Units."""\n\nimport os\n')
NONE_LEFT = ("if station is None:", "if station == None:")
NONE_RIGHT = ("if reading is not None]", "if reading != None]")
EMPTY_F = ('lines = ["In the shed"]', 'lines = [f"In the shed"]')
NO_READINGS_F = ('return "no readings"', 'return f"no readings"')
NO_JSON = ("\nimport json\n", "")
NOT_IN = ("if name not in self.tools", "if not name in self.tools")
UNUSED_BEFORE = ("        if tool.name in self.tools:\n", "        before = tool.count\n        if tool.name in self.tools:\n")
UNUSED_PATH = ("from datetime import date\n", "from datetime import date\nfrom pathlib import Path\n")
UNUSED_MATH = ('"""The day in words."""\n', '"""The day in words."""\n\nimport math\n')
UNUSED_TIME = ("from datetime import date, timedelta\n", "import time\nfrom datetime import date, timedelta\n")

SIMPLE_OFFLINE = [
    quick("unused import", "meteo", CONVERT, ["F401"], UNUSED_OS),
    quick("comparison with None", "meteo", READINGS, ["E711"], NONE_LEFT),
    quick("f-string without a field", "toolshed", REPORT, ["F541"], EMPTY_F),
    quick("missing import", "toolshed", STOCK, ["F821", "reportUndefinedVariable"], NO_JSON),
    quick("not in, unused variable", "toolshed", STOCK, ["E713", "F841"], NOT_IN, UNUSED_BEFORE),
]
PLANNER_OFFLINE = [
    quick("two warnings in a report", "toolshed", REPORT, ["F401", "F541"], UNUSED_PATH, EMPTY_F),
    quick("two warnings in a summary", "meteo", SUMMARY, ["F401", "F541"], UNUSED_MATH, NO_READINGS_F),
    quick("an import for a method", "toolshed", STOCK, ["F821", "E713"], NO_JSON, NOT_IN),
    quick("two comparisons", "meteo", READINGS, ["E711"], NONE_LEFT, NONE_RIGHT),
]
SUPERVISED_OFFLINE = [
    quick("unused import of loans", "toolshed", LOANS, ["F401"], UNUSED_TIME),
    quick("method and import", "toolshed", STOCK, ["E713", "F841"], NOT_IN, UNUSED_BEFORE),
    quick("unused import and f-string", "meteo", SUMMARY, ["F401", "F541"], UNUSED_MATH, NO_READINGS_F),
]

MEAN = 'def mean(values: list[float]) -> float:\n    """The mean; 0 of nothing."""\n    if not values:\n        return {}\n    return sum(values) / len(values)\n'
RETURN_TYPE = Work(
    "a wrong return type",
    "meteo",
    "mean must return a number for an empty list",
    Aim({STATISTICS}, gone=[(STATISTICS, "reportReturnType")]),
    ["--symbol", f"{STATISTICS}::mean"],
    [(STATISTICS, '0 of nothing."""\n    if not values:\n        return 0.0', '0 of nothing."""\n    if not values:\n        return "0"')],
)


def return_type(asked: Asked) -> Talk:
    asked.expect("reportReturnType")
    asked = yield call("read_symbol", symbol=f"{STATISTICS}::mean")
    asked.expect('return "0"')
    asked = yield replace(f"{STATISTICS}::mean", MEAN.format("0.0"))
    asked.expect("0 new, 1 fixed")
    yield done()


DUE = ("(today - self.due()).days", "(today - self.since).days")
LATE = Work(
    "a wrong date, after a text that is not there",
    "toolshed",
    "days_late must count from the day on which the tool is due",
    Aim({LOANS}, has=[(LOANS, "self.due()).days")]),
    ["--symbol", f"{LOANS}::Loan::days_late"],
    [(LOANS, *DUE)],
)


def late(asked: Asked) -> Talk:
    asked = yield call("edit_file", path=LOANS, old_string="(today - self.start).days", new_string=DUE[0])
    asked.expect("Result of edit_file (failed)", "1 failed in a row")
    yield call("edit_file", last=True, path=LOANS, old_string=DUE[1], new_string=DUE[0])


MEDIAN = '''def median(values: list[float]) -> float:
    """The middle one; the mean of both where there are two."""
    if not values:
        return 0.0
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return {}
    return (ordered[middle - 1] + ordered[middle]) / 2
'''
MEDIAN_BODY = MEDIAN.format("ordered[middle]").split("return 0.0\n")[1]
IMPLEMENT = Work(
    "a function to be written, after an error of its own",
    "meteo",
    "write median",
    Aim({STATISTICS}, lacks=[(STATISTICS, "NotImplementedError")]),
    ["--symbol", f"{STATISTICS}::median"],
    [(STATISTICS, MEDIAN_BODY, "    raise NotImplementedError\n")],
)


def implement(asked: Asked) -> Talk:
    if asked.wants_plan:
        asked = yield plan(step("Write median", f"{STATISTICS}::median"))
    asked = yield replace(f"{STATISTICS}::median", MEDIAN.format("ordered[middle : middle + 1]"))
    asked.expect("Result of edit_symbol (ok)", "1 new", "reportReturnType", "median")
    yield call(
        "edit_file",
        last=True,
        path=STATISTICS,
        old_string="return ordered[middle : middle + 1]",
        new_string="return ordered[middle]",
        symbol=f"{STATISTICS}::median",
    )


GUARD = Work(
    "a guard, after a reach outside the scope",
    "toolshed",
    "where must answer nowhere for a tool without a shelf",
    Aim({STOCK}, gone=[(STOCK, "reportOptionalMemberAccess"), (STOCK, "reportReturnType")]),
    ["--symbol", f"{STOCK}::Stock::where"],
    [(STOCK, '        if tool is None or tool.shelf is None:\n            return "nowhere"\n', "")],
)


def guard(asked: Asked) -> Talk:
    if asked.wants_plan:
        asked = yield plan(step("Answer nowhere", f"{STOCK}::Stock::where", because="reportOptionalMemberAccess"))
    asked = yield call("edit_file", path=STOCK, old_string="-> Tool | None:", new_string="-> Tool:")
    asked.expect("(failed)", "outside its scope", "Stock::find")
    yield call("edit_symbol", last=True, symbol=f"{STOCK}::Stock::where", action="replace", content=WHERE_RIGHT)


COUNT_TEST = """import unittest

from toolshed.stock import Stock, Tool


class CountTest(unittest.TestCase):
    def test_count(self) -> None:
        stock = Stock()
        stock.add(Tool("saw", 20.0, 2))
        self.assertEqual(stock.count_all(), 2)
"""
METHOD = Work(
    "a new method, after an answer that is no JSON",
    "toolshed",
    "write a method count_all that counts all pieces",
    Aim({STOCK}, gone=[("tests/test_count.py", "reportAttributeAccessIssue")]),
    ["--file", STOCK],
    files={"tests/test_count.py": COUNT_TEST},
)
COUNT_ALL = "def count_all(self) -> int:\n    return sum(tool.count for tool in self.tools.values())\n"


def method(asked: Asked) -> Talk:
    if asked.wants_plan:
        asked = yield plan(step("Write count_all after take", f"{STOCK}::Stock::take"))
    asked = yield prose("Surely: I will add the method.")
    asked.expect("could not be used")
    yield call("edit_symbol", last=True, symbol=f"{STOCK}::Stock::take", action="insert_after", content=COUNT_ALL)


RENAME_METEO = Work(
    "rename in three files",
    "meteo",
    "rename to_fahrenheit to fahrenheit everywhere",
    Aim(
        {CONVERT, SUMMARY, TEST_SUMMARY},
        has=[(CONVERT, "def fahrenheit("), (SUMMARY, "fahrenheit(average)")],
        lacks=[(name, "to_fahrenheit") for name in (CONVERT, SUMMARY, TEST_SUMMARY)],
    ),
    steps=[
        (
            step(
                "Rename it and its uses",
                *(f"{CONVERT}::to_fahrenheit", SUMMARY, f"{SUMMARY}::day"),
                *(TEST_SUMMARY, f"{TEST_SUMMARY}::SummaryTest::test_convert"),
            ),
            [
                call("search", pattern="to_fahrenheit"),
                see(SUMMARY, TEST_SUMMARY),
                call("edit_file", path=CONVERT, old_string="def to_fahrenheit", new_string="def fahrenheit"),
                call("edit_file", path=SUMMARY, old_string="to_fahrenheit", new_string="fahrenheit", replace_all=True),
                call("edit_file", path=TEST_SUMMARY, old_string="to_fahrenheit", new_string="fahrenheit", replace_all=True),
            ],
        )
    ],
)
PARAMETER_METEO = Work(
    "a parameter and its callers",
    "meteo",
    "give table a parameter digits, and give it in every caller",
    Aim({SUMMARY, TEST_SUMMARY}, has=[(SUMMARY, "digits: int)"), (TEST_SUMMARY, "READINGS[:2], 1)")]),
    steps=[
        (
            step("Add digits", f"{SUMMARY}::table", f"{TEST_SUMMARY}::SummaryTest::test_table"),
            [
                call("read_symbol", symbol=f"{TEST_SUMMARY}::SummaryTest::test_table"),
                call(
                    "edit_symbol",
                    symbol=f"{SUMMARY}::table",
                    action="replace",
                    content='def table(readings: list[Reading], digits: int) -> str:\n    """One line an hour."""\n'
                    '    lines = [f"{reading.hour:2} {rounded(reading.celsius, digits)}" for reading in readings]\n'
                    '    return "\\n".join(lines)\n',
                ),
                see("reportCallIssue", "test_table"),
                call("edit_file", path=TEST_SUMMARY, old_string="table(READINGS[:2])", new_string="table(READINGS[:2], 1)"),
            ],
        )
    ],
)
EXTRACT_METEO = Work(
    "extract the warmest hour",
    "meteo",
    "extract the words for the warmest reading from day into a function peak",
    Aim({SUMMARY}, has=[(SUMMARY, "def peak("), (SUMMARY, "{peak(top)}")]),
    ["--file", SUMMARY],
    steps=[
        (
            step("Write peak before day", f"{SUMMARY}::day"),
            [
                call(
                    "edit_symbol",
                    symbol=f"{SUMMARY}::day",
                    action="insert_before",
                    content='def peak(top: Reading) -> str:\n    return f"warmest {top.celsius} C at {top.hour}"\n',
                )
            ],
        ),
        (
            step("Let day use it", f"{SUMMARY}::day"),
            [
                call("read_symbol", symbol="day"),
                see("warmest {top.celsius}"),
                call("edit_file", path=SUMMARY, old_string="warmest {top.celsius} C at {top.hour}\"", new_string='{peak(top)}"', symbol="day"),
            ],
        ),
    ],
)
MOVE_METEO = Work(
    "move a function to the data",
    "meteo",
    f"move temperatures to {READINGS}, with everything that refers to it",
    Aim({READINGS, STATISTICS, SUMMARY, TEST_STATISTICS}, has=[(READINGS, "def temperatures(")], lacks=[(STATISTICS, "temperatures")]),
    steps=[
        (
            step(
                "Move it",
                *(f"{STATISTICS}::temperatures", f"{READINGS}::parse_all", READINGS),
                *(SUMMARY, TEST_STATISTICS),
            ),
            [
                call("search", pattern="temperatures"),
                see(SUMMARY, TEST_STATISTICS),
                call("read_file", path=SUMMARY),
                call("read_file", path=TEST_STATISTICS),
                call(
                    "edit_symbol",
                    symbol=f"{READINGS}::parse_all",
                    action="insert_after",
                    content="def temperatures(readings: list[Reading]) -> list[float]:\n    return [reading.celsius for reading in readings]\n",
                ),
                call("edit_symbol", symbol=f"{STATISTICS}::temperatures", action="delete", content=""),
                see(SUMMARY, "reportAttributeAccessIssue"),
                call(
                    "edit_file",
                    path=SUMMARY,
                    old_string="import Reading, of_station\nfrom meteo.statistics import mean, temperatures, warmest",
                    new_string="import Reading, of_station, temperatures\nfrom meteo.statistics import mean, warmest",
                ),
                call(
                    "edit_file",
                    path=TEST_STATISTICS,
                    old_string="import Reading\nfrom meteo.statistics import mean, median, temperatures, warmest",
                    new_string="import Reading, temperatures\nfrom meteo.statistics import mean, median, warmest",
                ),
            ],
        )
    ],
)
TYPES_METEO = Work(
    "type errors in two files",
    "meteo",
    "fix the type errors in parse and mean",
    Aim({READINGS, STATISTICS}, gone=[(READINGS, "reportArgumentType"), (STATISTICS, "reportReturnType")]),
    ["--symbol", f"{READINGS}::parse", "--symbol", f"{STATISTICS}::mean"],
    [*RETURN_TYPE.plants, (READINGS, "int(parts[1])", "parts[1]")],
    steps=[
        (
            step("Read the hour as a number", f"{READINGS}::parse", because="reportArgumentType"),
            [
                call("edit_file", path=READINGS, old_string="parts[0], parts[1],", new_string="parts[0], round(parts[1]),"),
                see("new", "reportArgumentType", "(ok)"),
                call("edit_file", path=READINGS, old_string="round(parts[1])", new_string="int(parts[1])"),
            ],
        ),
        (
            step("Give back a number", f"{STATISTICS}::mean", because="reportReturnType"),
            [replace(f"{STATISTICS}::mean", MEAN.format("0.0"))],
        ),
    ],
)
TESTS = Work(
    "a test to be written",
    "toolshed",
    "write a test for title",
    Aim({"tests/test_report.py"}, has=[("tests/test_report.py", "def test_title(")]),
    ["--file", "tests/test_report.py"],
    steps=[
        (
            step("Import title", "tests/test_report.py"),
            [
                call(
                    "edit_file",
                    path="tests/test_report.py",
                    old_string="from toolshed.stock import Stock, Tool\n",
                    new_string="from toolshed.stock import Stock, Tool\nfrom toolshed.text import title\n",
                )
            ],
        ),
        (
            step("Write test_title", "tests/test_report.py::ReportTest::test_overview"),
            [
                call(
                    "edit_symbol",
                    symbol="tests/test_report.py::ReportTest::test_overview",
                    action="insert_after",
                    content='def test_title(self) -> None:\n    self.assertEqual(title(" a b "), "A b")\n',
                )
            ],
        ),
    ],
)


def replanned(asked: Asked) -> Talk:
    """A first plan whose step leaves an error behind, and a second one that mends it."""
    asked = yield plan(step("Make the fee whole", f"{LOANS}::deposit"), step("Say it in words", f"{REPORT}::reminder"))
    asked = yield call("edit_file", last=True, path=LOANS, old_string="round(stock.price_of(name) / 5, 1)", new_string='f"{stock.price_of(name) / 5:.0f}"')
    asked.expect("What was wrong with your last plan", "deviation")
    asked = yield plan(step("Give back a number again, a whole one", f"{LOANS}::deposit"))
    asked = yield call("edit_file", last=True, path=LOANS, old_string='f"{stock.price_of(name) / 5:.0f}"', new_string="float(round(stock.price_of(name) / 5))")


WHOLE = Work(
    "a plan that breaks something and is made anew",
    "toolshed",
    "deposit is to be in whole euros",
    Aim({LOANS}, has=[(LOANS, "float(round(")]),
)


def misfit(asked: Asked) -> Talk:
    """A plan that names what is not there; the model is told, and names what is."""
    asked = yield plan(step("Answer nowhere", f"{STOCK}::Shed::where"))
    asked.expect("What was wrong with your last plan", "no single symbol Shed::where")
    yield from guard(asked)


MISFIT = Work("a plan that did not fit at first", "toolshed", GUARD.text, GUARD.aim, GUARD.where, GUARD.plants)

THIRTY: "list[Task]" = [
    *(offline(work, "simple") for work in SIMPLE_OFFLINE),
    scripted(RETURN_TYPE, "simple", return_type),
    scripted(LATE, "simple", late),
    scripted(IMPLEMENT, "simple", implement),
    scripted(GUARD, "simple", guard),
    scripted(METHOD, "simple", method),
    *(offline(work, "planner") for work in PLANNER_OFFLINE),
    *(scripted(work, "planner") for work in (RENAME_METEO, PARAMETER_METEO, EXTRACT_METEO, TYPES_METEO)),
    scripted(WHOLE, "planner", replanned, replans=["deviation"]),
    scripted(MISFIT, "planner", misfit),
    *(offline(work, "supervised") for work in SUPERVISED_OFFLINE),
    *(scripted(work, "supervised") for work in (MOVE_METEO, TYPES_METEO, EXTRACT_METEO, TESTS)),
    scripted(IMPLEMENT, "supervised", implement),
    scripted(GUARD, "supervised", guard),
    scripted(METHOD, "supervised", method),
]
