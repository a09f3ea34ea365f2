import unittest
from datetime import date

from toolshed.loans import borrow, deposit, late_fee
from toolshed.stock import Stock, Tool

START = date(2026, 3, 1)


class LoansTest(unittest.TestCase):
    def setUp(self) -> None:
        self.stock = Stock()
        self.stock.add(Tool("saw", 20.25))

    def test_borrow(self) -> None:
        loan = borrow(self.stock, "saw", "ada", START)
        assert loan is not None
        self.assertEqual(loan.due(), date(2026, 3, 15))
        self.assertIsNone(borrow(self.stock, "saw", "bob", START))

    def test_late(self) -> None:
        loan = borrow(self.stock, "saw", "ada", START)
        assert loan is not None
        self.assertEqual(loan.days_late(date(2026, 3, 15)), 0)
        self.assertEqual(loan.days_late(date(2026, 3, 2)), 0)
        self.assertEqual(loan.days_late(date(2026, 3, 18)), 3)
        self.assertEqual(late_fee(loan, date(2026, 3, 18)), 1.5)

    def test_deposit(self) -> None:
        self.assertEqual(deposit(self.stock, "saw"), 4.0)
        self.assertEqual(deposit(self.stock, "anvil"), 0.0)
