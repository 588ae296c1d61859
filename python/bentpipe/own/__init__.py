"""What users write in Python, and scenarios name.

scheme        what is common to all: names, options, and what the simulator needs of a class
control       congestion controls
loss          loss models
queue         queues
application   applications
"""
