"""What the walkthroughs know of visits: their formats, windows and counts."""
