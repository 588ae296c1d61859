"""One scenario with several variants, which meet the same seeds: which is best, and by how much."""
