"""What is told to the neighbours."""

from datetime import date

from toolshed.loans import Loan, late_fee
from toolshed.stock import Stock
from toolshed.text import money, plural, title


def reminder(loan: Loan, today: date) -> str:
    """One line for somebody who has forgotten."""
    days = plural(loan.days_late(today), "day")
    return f"{title(loan.person)}: {loan.tool} is {days} late, {money(late_fee(loan, today))}"


def overview(stock: Stock) -> str:
    """One line a tool, and what all of it is worth."""
    lines = ["In the shed"]
    worth = 0.0
    for tool in stock.tools.values():
        lines.append(f"{title(tool.name)}: {plural(tool.count, 'piece')}")
        worth += tool.price * tool.count
    lines.append(f"Worth: {money(worth)}")
    return "\n".join(lines)
