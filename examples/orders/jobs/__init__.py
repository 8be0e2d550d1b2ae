"""Streams, started with spark-submit jobs/NAME.py."""
