"""Live runs: our TCP against the TCP of this machine's kernel."""
