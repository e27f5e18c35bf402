"""TIRA's contract: what an input directory holds, what a run leaves behind, and where it comes from."""
