"""Many training runs: studies and sweeps."""
