"""Runs baselines as programs or images, within limits."""
