"""A search engine like Elasticsearch: matches pages, finds phrases, and scores in Lucene's arithmetic."""
