"""What `bentpipe demo` shows."""
