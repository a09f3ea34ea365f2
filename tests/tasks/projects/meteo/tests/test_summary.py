import unittest

from meteo.convert import rounded, to_fahrenheit, to_kelvin
from meteo.readings import Reading
from meteo.summary import day, table

READINGS = [Reading("hill", 4, -1.0), Reading("hill", 12, 7.0), Reading("sea", 12, 3.0)]


class SummaryTest(unittest.TestCase):
    def test_convert(self) -> None:
        self.assertEqual(to_fahrenheit(100.0), 212.0)
        self.assertEqual(to_kelvin(0.0), 273.15)
        self.assertEqual(str(rounded(-0.01)), "0.0")

    def test_day(self) -> None:
        self.assertEqual(day(READINGS, "hill"), "mean 3.0 C (37.4 F), warmest 7.0 C at 12")
        self.assertEqual(day([]), "no readings")

    def test_table(self) -> None:
        self.assertEqual(table(READINGS[:2]), " 4 -1.0\n12 7.0")
