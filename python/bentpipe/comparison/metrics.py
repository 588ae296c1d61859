"""The names of the numbers that variants are compared by."""

from typing import Literal, get_args

Metric = Literal["goodput_bps", "response_s", "response_p50_s", "response_p95_s", "response_p99_s"]
"""Goodput of all flows together in bits a second; mean or percentile of response times in seconds."""

METRICS: tuple[Metric, ...] = get_args(Metric)

PERCENTILES = {"response_p50_s": 50, "response_p95_s": 95, "response_p99_s": 99}
"""Which percentile of response times a number is."""
