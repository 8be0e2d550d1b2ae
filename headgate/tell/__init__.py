"""Telling people: the account of a failure, narration, the page of sentences."""
