import unittest

from toolshed.stock import Stock, Tool


class StockTest(unittest.TestCase):
    def setUp(self) -> None:
        self.stock = Stock()
        self.stock.add(Tool("saw", 20.0, 2, "A1"))
        self.stock.add(Tool("drill", 90.0))

    def test_find(self) -> None:
        self.assertIsNone(self.stock.find("anvil"))
        self.assertEqual(self.stock.price_of("anvil"), 0.0)
        self.assertEqual(self.stock.price_of("drill"), 90.0)

    def test_where(self) -> None:
        self.assertEqual(self.stock.where("saw"), "A1")
        self.assertEqual(self.stock.where("drill"), "nowhere")
        self.assertEqual(self.stock.where("anvil"), "nowhere")

    def test_take(self) -> None:
        self.assertTrue(self.stock.take("drill"))
        self.assertFalse(self.stock.take("drill"))
        self.assertFalse(self.stock.take("anvil"))

    def test_json(self) -> None:
        self.stock.add(Tool("saw", 20.0))
        self.assertEqual(self.stock.to_json(), '{"saw": 3, "drill": 1}')
