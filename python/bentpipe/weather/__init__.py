"""What rain does to a satellite link: attenuation, link budget, MODCODs, and a trace for a scenario."""
