"""What a shared task exchanges: topics, runs and qrels, in files and in Python."""
