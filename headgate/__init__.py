"""The real parts on one machine: Java, the jars, a Kafka broker, a Spark session."""
