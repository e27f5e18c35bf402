"""Documents: one module per format, discovery in a folder, and the collection."""
