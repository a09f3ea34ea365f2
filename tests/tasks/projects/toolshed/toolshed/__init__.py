"""Lends tools to neighbours."""
