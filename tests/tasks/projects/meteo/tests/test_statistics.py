import unittest

from meteo.readings import Reading
from meteo.statistics import mean, median, temperatures, warmest


class StatisticsTest(unittest.TestCase):
    def test_mean(self) -> None:
        self.assertEqual(mean([]), 0.0)
        self.assertEqual(mean([1.0, 2.0, 6.0]), 3.0)

    def test_median(self) -> None:
        self.assertEqual(median([]), 0.0)
        self.assertEqual(median([5.0, 1.0, 2.0]), 2.0)
        self.assertEqual(median([4.0, 1.0, 2.0, 9.0]), 3.0)

    def test_warmest(self) -> None:
        readings = [Reading("hill", 4, -1.5), Reading("hill", 12, 7.0)]
        self.assertEqual(warmest(readings), readings[1])
        self.assertIsNone(warmest([]))
        self.assertEqual(temperatures(readings), [-1.5, 7.0])
