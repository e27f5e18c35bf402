"""Fields of web pages from their HTML."""
