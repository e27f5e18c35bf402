"""What shared tasks exchange: topics, runs and qrels, in files and in Python."""
