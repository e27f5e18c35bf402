"""TIRA's conventions: output directory, run.txt and metadata."""
