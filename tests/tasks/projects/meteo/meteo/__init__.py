"""Readings of a weather station."""
