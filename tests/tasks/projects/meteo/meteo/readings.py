"""Readings, and how they are read from lines."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    station: str
    hour: int
    celsius: float


def parse(line: str) -> Reading | None:
    """One `station;hour;celsius`; None for a line that is none."""
    parts = line.strip().split(";")
    if len(parts) != 3:
        return None
    return Reading(parts[0], int(parts[1]), float(parts[2]))


def parse_all(lines: Iterable[str]) -> list[Reading]:
    found = [parse(line) for line in lines]
    return [reading for reading in found if reading is not None]


def of_station(readings: list[Reading], station: str | None = None) -> list[Reading]:
    """Those of one station, or all."""
    if station is None:
        return list(readings)
    return [reading for reading in readings if reading.station == station]
