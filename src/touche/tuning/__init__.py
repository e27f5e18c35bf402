"""Tuning: all settings of a baseline, or all weights of a fusion, scored on the same topics."""
