"""What a paper ran and printed, held against ours."""
