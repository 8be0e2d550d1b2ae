"""Headgate: an acceptance gate for Spark streams."""
