"""What users write in Python, and scenarios name: controls, loss models, queues and applications."""
