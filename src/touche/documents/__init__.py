"""What is ranked: a module per format, discovery in a folder, and the collection."""
