"""Expectations against what came: cells, frames, differences, silence."""
