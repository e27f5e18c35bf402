"""Sweeps: all settings of a baseline, scored on the same topics."""
