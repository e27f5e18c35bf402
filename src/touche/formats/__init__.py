"""The formats of files, a module each: readers that yield typed records, and the writer of runs."""
