"""Spark for a run: its jars, its session, its queries, a cluster of one machine."""
