"""Scores: two evaluators, intervals, tests, comparisons, places among the published results."""
