"""Evaluation: scores, intervals, significance tests, comparisons, ranks among published results."""
