"""Baselines rerun, and held against what each one's expected.toml asks of it."""
