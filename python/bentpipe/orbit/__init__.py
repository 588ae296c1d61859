"""Satellites in motion, shown: paths over time, a map, a film."""
