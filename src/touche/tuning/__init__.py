"""Tuning: all settings of a baseline, or all weights of a fusion, scored by the same topics."""
