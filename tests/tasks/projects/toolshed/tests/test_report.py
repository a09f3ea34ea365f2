import unittest
from datetime import date

from toolshed.loans import Loan
from toolshed.report import overview, reminder
from toolshed.stock import Stock, Tool


class ReportTest(unittest.TestCase):
    def test_reminder(self) -> None:
        loan = Loan("saw", " ada", date(2026, 3, 1))
        self.assertEqual(reminder(loan, date(2026, 3, 16)), "Ada: saw is 1 day late, 0.50 EUR")
        self.assertEqual(reminder(loan, date(2026, 3, 17)), "Ada: saw is 2 days late, 1.00 EUR")

    def test_overview(self) -> None:
        stock = Stock()
        stock.add(Tool("saw", 20.0, 2))
        self.assertEqual(overview(stock), "In the shed\nSaw: 2 pieces\nWorth: 40.00 EUR")
