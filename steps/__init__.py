"""The vocabulary of the features: one module per thing a sentence is about."""
