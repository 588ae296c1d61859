"""What rain does to a satellite link: attenuation, link budget, MODCODs, and a trace for a scenario."""

MODEMS = ("dvb-s2", "dvb-s2x", "qpsk-1/2")
TILTS_DEG = {"circular": 45.0, "horizontal": 0.0, "vertical": 90.0}
"""Polarizations, by their tilt from the horizontal."""
