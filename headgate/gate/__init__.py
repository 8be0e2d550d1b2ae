"""Proves the gate itself: scenarios against programs that are wrong, and against disturbed ones."""
