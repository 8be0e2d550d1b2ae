"""What several of our programs know about the shops."""
