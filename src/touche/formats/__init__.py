"""File formats, one module each: readers that yield typed records, and the writer of runs.

``touche.collection.discovery`` maps names of files to formats.
"""
