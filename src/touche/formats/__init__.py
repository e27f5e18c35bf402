"""The formats of files, a module each: readers that yield typed records, and the writer of runs.

``touche.collection.discovery`` lists the formats of documents by the names of files.
"""
