import unittest

from meteo.readings import Reading, of_station, parse, parse_all


class ReadingsTest(unittest.TestCase):
    def test_parse(self) -> None:
        self.assertEqual(parse("hill;4;-1.5\n"), Reading("hill", 4, -1.5))
        self.assertIsNone(parse("nothing"))

    def test_parse_all(self) -> None:
        self.assertEqual(len(parse_all(["hill;4;-1.5", "# a comment", "sea;5;3"])), 2)

    def test_of_station(self) -> None:
        readings = parse_all(["hill;4;-1.5", "sea;5;3"])
        self.assertEqual([reading.station for reading in of_station(readings, "sea")], ["sea"])
        self.assertEqual(len(of_station(readings)), 2)
