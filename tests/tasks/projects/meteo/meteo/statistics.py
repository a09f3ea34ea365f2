"""Figures over many readings."""

from meteo.readings import Reading


def mean(values: list[float]) -> float:
    """The mean; 0 of nothing."""
    if not values:
        return 0.0
    return sum(values) / len(values)


def median(values: list[float]) -> float:
    """The middle one; the mean of both where there are two."""
    if not values:
        return 0.0
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def warmest(readings: list[Reading]) -> Reading | None:
    return max(readings, key=lambda reading: reading.celsius, default=None)


def temperatures(readings: list[Reading]) -> list[float]:
    return [reading.celsius for reading in readings]
