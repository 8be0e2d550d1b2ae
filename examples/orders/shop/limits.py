"""Limits that the shops have agreed on."""

BIG_ORDER = 1000.0
