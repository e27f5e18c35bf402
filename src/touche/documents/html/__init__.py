"""Parses web pages into fields."""
