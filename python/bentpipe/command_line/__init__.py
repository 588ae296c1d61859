"""What the commands have in common: options, completion, signals, the terminal."""
