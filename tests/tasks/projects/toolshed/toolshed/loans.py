"""Who has borrowed what, and until when."""

from dataclasses import dataclass
from datetime import date, timedelta

from toolshed.stock import Stock

DAYS = 14
DAILY_FEE = 0.5


@dataclass
class Loan:
    tool: str
    person: str
    since: date

    def due(self) -> date:
        return self.since + timedelta(days=DAYS)

    def days_late(self, today: date) -> int:
        """How many days the tool should have been back."""
        return max(0, (today - self.due()).days)


def late_fee(loan: Loan, today: date) -> float:
    return loan.days_late(today) * DAILY_FEE


def borrow(stock: Stock, name: str, person: str, today: date) -> Loan | None:
    """A loan, where the tool is there."""
    if not stock.take(name):
        return None
    return Loan(name, person, today)


def deposit(stock: Stock, name: str) -> float:
    """A fifth of the price, in whole tenths."""
    return round(stock.price_of(name) / 5, 1)
