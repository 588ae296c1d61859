"""The program that real Linux TCP is asked through: it runs in a host's network namespace."""
