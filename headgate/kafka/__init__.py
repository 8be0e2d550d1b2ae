"""A real Kafka for a run: embedded, in a container, or your own."""
