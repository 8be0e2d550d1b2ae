"""The one place where a program meets its scenario."""
