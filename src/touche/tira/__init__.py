"""TIRA's contract: the output directory, run.txt and the run's metadata."""
