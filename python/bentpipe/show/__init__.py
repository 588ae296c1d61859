"""Tables and words for people."""
