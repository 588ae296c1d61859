"""What runs a scenario, and what comes out of it."""
