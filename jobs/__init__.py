"""The Spark jobs of the walkthroughs, and the commands that run them."""
