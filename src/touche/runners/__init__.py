"""Runs baselines on this machine, or in containers within limits."""
