"""Reruns baselines, and compares the results with each expected.toml."""
