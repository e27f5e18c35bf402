"""Web pages: from HTML to the fields that are searched, by all processors."""
