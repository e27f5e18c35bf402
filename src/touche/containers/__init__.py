"""Runs baselines as programs or as images, within limits."""
