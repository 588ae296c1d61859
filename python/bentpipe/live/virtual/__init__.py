"""The virtual kernel: Linux as a program whose clock is ours, and commands of ``bentpipe live`` inside it."""
