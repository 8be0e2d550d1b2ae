"""What our features say beside the sentences of Headgate."""
