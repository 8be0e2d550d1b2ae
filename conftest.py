"""Nothing is needed here: pytest finds Headgate by itself."""
