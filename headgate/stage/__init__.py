"""A scenario's world: topics, places, programs, and what was seen of them."""
