"""Collections for baselines and engines: files, candidates to re-rank, corpora of ir_datasets."""
