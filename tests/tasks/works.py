"""The five kinds of work that every mode is asked to do, and one that a quick fix does."""

from judge import Aim
from scripted import call, step
from task import Work, see

TEXT = "toolshed/text.py"
REPORT = "toolshed/report.py"
LOANS = "toolshed/loans.py"
STOCK = "toolshed/stock.py"
TEST_LOANS = "tests/test_loans.py"


def replace(symbol: str, content: str) -> object:
    return call("edit_symbol", symbol=symbol, action="replace", content=content)


WHERE_RIGHT = '''def where(self, name: str) -> str:
    """The shelf of a tool."""
    tool = self.find(name)
    return (tool.shelf if tool else None) or "nowhere"
'''

TYPES = Work(
    "fix type errors",
    "toolshed",
    "fix the type errors in where and deposit",
    Aim({STOCK, LOANS}, gone=[(STOCK, "reportOptionalMemberAccess"), (LOANS, "reportReturnType")]),
    where=["--symbol", f"{STOCK}::Stock::where", "--symbol", f"{LOANS}::deposit"],
    plants=[
        (STOCK, '        if tool is None or tool.shelf is None:\n            return "nowhere"\n', ""),
        (LOANS, "return round(stock.price_of(name) / 5, 1)", "return str(round(stock.price_of(name) / 5, 1))"),
    ],
    steps=[
        (
            step("Answer nowhere for a tool without a shelf", f"{STOCK}::Stock::where", because="reportOptionalMemberAccess"),
            [replace(f"{STOCK}::Stock::where", WHERE_RIGHT)],
        ),
        (
            step("Give back a number", f"{LOANS}::deposit", because="reportReturnType"),
            [
                call("read_symbol", symbol=f"{LOANS}::deposit"),
                see("return str(round("),
                call(
                    "edit_file",
                    path=LOANS,
                    old_string="return str(round(stock.price_of(name) / 5, 1))",
                    new_string="return round(stock.price_of(name) / 5, 1)",
                ),
            ],
        ),
    ],
)

RENAME = Work(
    "rename across files",
    "toolshed",
    "rename money to euros everywhere",
    Aim({TEXT, REPORT}, has=[(TEXT, "def euros("), (REPORT, "euros(")], lacks=[(TEXT, "money"), (REPORT, "money")]),
    files={
        "tests/test_text.py": "import unittest\n\nfrom toolshed.text import euros\n\n\nclass TextTest(unittest.TestCase):\n"
        '    def test_euros(self) -> None:\n        self.assertEqual(euros(2.5), "2.50 EUR")\n'
    },
    steps=[
        (
            step("Rename money and its uses", f"{TEXT}::money", REPORT, f"{REPORT}::reminder", f"{REPORT}::overview"),
            [
                call("search", pattern=r"\bmoney\b"),
                see(REPORT, TEXT),
                call("edit_file", path=TEXT, old_string="def money(", new_string="def euros("),
                call("read_file", path=REPORT),
                call("edit_file", path=REPORT, old_string="money", new_string="euros", replace_all=True),
            ],
        )
    ],
)

WORTH = '''def worth(stock: Stock) -> float:
    """What everything in the shed is worth."""
    return sum(tool.price * tool.count for tool in stock.tools.values())
'''

OVERVIEW = '''def overview(stock: Stock) -> str:
    """One line a tool, and what all of it is worth."""
    lines = ["In the shed"]
    for tool in stock.tools.values():
        lines.append(f"{title(tool.name)}: {plural(tool.count, 'piece')}")
    lines.append(f"Worth: {money(worth(stock))}")
    return "\\n".join(lines)
'''

EXTRACT = Work(
    "extract a function",
    "toolshed",
    "extract what everything is worth from overview into a function worth",
    Aim({REPORT}, has=[(REPORT, "def worth("), (REPORT, "worth(stock)")], lacks=[(REPORT, "worth +=")]),
    where=["--file", REPORT],
    files={
        "tests/test_worth.py": "import unittest\n\nfrom toolshed.report import worth\nfrom toolshed.stock import Stock\n\n\n"
        "class WorthTest(unittest.TestCase):\n    def test_nothing(self) -> None:\n        self.assertEqual(worth(Stock()), 0)\n"
    },
    steps=[
        (
            step("Write worth before overview", f"{REPORT}::overview"),
            [
                call("read_symbol", symbol=f"{REPORT}::overview"),
                call("edit_symbol", symbol=f"{REPORT}::overview", action="insert_before", content=WORTH),
            ],
        ),
        (step("Let overview use it", f"{REPORT}::overview"), [replace(f"{REPORT}::overview", OVERVIEW)]),
    ],
)

PARAMETER = Work(
    "add a parameter",
    "toolshed",
    "add a parameter daily to late_fee, and give it in every caller",
    Aim(
        {LOANS, REPORT, TEST_LOANS},
        has=[(LOANS, "daily: float)"), (REPORT, "late_fee(loan, today, DAILY_FEE)"), (TEST_LOANS, "3, 18), 0.5)")],
    ),
    steps=[
        (
            step("Add daily", f"{LOANS}::late_fee", REPORT, f"{REPORT}::reminder", f"{TEST_LOANS}::LoansTest::test_late"),
            [
                call("search", pattern=r"late_fee\("),
                see(REPORT, TEST_LOANS),
                call("read_file", path=REPORT),
                call("read_file", path=TEST_LOANS),
                replace(
                    f"{LOANS}::late_fee",
                    "def late_fee(loan: Loan, today: date, daily: float) -> float:\n    return loan.days_late(today) * daily\n",
                ),
                # The callers are in other files, and are reported all the same.
                see("reportCallIssue", "reminder"),
                call("edit_file", path=REPORT, old_string="late_fee(loan, today)", new_string="late_fee(loan, today, DAILY_FEE)"),
                call(
                    "edit_file",
                    path=REPORT,
                    old_string="from toolshed.loans import Loan, late_fee",
                    new_string="from toolshed.loans import DAILY_FEE, Loan, late_fee",
                ),
                call(
                    "edit_file",
                    path=TEST_LOANS,
                    old_string="late_fee(loan, date(2026, 3, 18))",
                    new_string="late_fee(loan, date(2026, 3, 18), 0.5)",
                ),
            ],
        )
    ],
)

MOVE = Work(
    "move a function",
    "toolshed",
    f"move late_fee to {REPORT}, with everything that refers to it",
    Aim(
        {LOANS, REPORT, TEST_LOANS},
        has=[(REPORT, "def late_fee("), (TEST_LOANS, "from toolshed.report import late_fee")],
        lacks=[(LOANS, "late_fee")],
    ),
    steps=[
        (
            step("Move late_fee", f"{LOANS}::late_fee", REPORT, TEST_LOANS, f"{REPORT}::reminder"),
            [
                call("read_file", path=TEST_LOANS),
                call(
                    "edit_symbol",
                    symbol=f"{REPORT}::reminder",
                    action="insert_before",
                    content="def late_fee(loan: Loan, today: date) -> float:\n    return loan.days_late(today) * DAILY_FEE\n",
                ),
                see("DAILY_FEE"),
                call(
                    "edit_file",
                    path=REPORT,
                    old_string="from toolshed.loans import Loan, late_fee",
                    new_string="from toolshed.loans import DAILY_FEE, Loan",
                ),
                call("edit_symbol", symbol=f"{LOANS}::late_fee", action="delete", content=""),
                see("test_loans.py"),
                call(
                    "edit_file",
                    path=TEST_LOANS,
                    old_string="from toolshed.loans import borrow, deposit, late_fee\n",
                    new_string="from toolshed.loans import borrow, deposit\nfrom toolshed.report import late_fee\n",
                ),
            ],
        )
    ],
)

FIVE = [TYPES, RENAME, EXTRACT, PARAMETER, MOVE]

QUICK_FIX = Work(
    "f-string without a field",
    "toolshed",
    "fix the warnings and errors in this file",
    Aim({REPORT}, gone=[(REPORT, "F541")]),
    ["--file", REPORT],
    [(REPORT, 'lines = ["In the shed"]', 'lines = [f"In the shed"]')],
)
