"""Runs of a baseline with many settings, their scores, and the cross-validated choice of a setting."""
