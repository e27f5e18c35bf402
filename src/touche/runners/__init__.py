"""Runs baselines on this machine, in containers within limits, or on a Spark cluster."""
