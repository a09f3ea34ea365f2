"""The day in words."""

from meteo.convert import rounded, to_fahrenheit
from meteo.readings import Reading, of_station
from meteo.statistics import mean, temperatures, warmest


def day(readings: list[Reading], station: str | None = None) -> str:
    """The mean of a station and its warmest hour."""
    chosen = of_station(readings, station)
    top = warmest(chosen)
    if top is None:
        return "no readings"
    average = rounded(mean(temperatures(chosen)))
    return f"mean {average} C ({rounded(to_fahrenheit(average))} F), warmest {top.celsius} C at {top.hour}"


def table(readings: list[Reading]) -> str:
    """One line an hour."""
    lines = [f"{reading.hour:2} {rounded(reading.celsius)}" for reading in readings]
    return "\n".join(lines)
