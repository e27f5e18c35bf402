"""Baselines run as programs or as images, within limits."""
