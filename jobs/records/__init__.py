"""Reading records from Kafka, judging them, writing what came of them."""
