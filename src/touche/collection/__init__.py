"""What authors iterate over and engines query: files, candidates to re-rank, corpora of ir_datasets."""
