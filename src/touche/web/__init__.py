"""Web pages: parses HTML into searchable fields, with all processors."""
