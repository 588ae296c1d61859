"""Sweeps: a scenario at many points, each as often as wanted, by this machine or by a cluster."""
