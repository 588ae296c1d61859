"""Sweeps: a scenario at many points, each as often as wanted, on this machine's cores or on a cluster.

======= =====================================================================
axes    what is varied: values of keys, and the points that they make
design  what is swept, and how its folder says it
work    a batch of runs, the same function here and on another machine
driver  gives out batches and takes back rows; cluster has those who are not here
store   the folder: rows as they come, in the end one Parquet file
result  the rows, to read; show and picture give them to people
api     the library function; command the command line
======= =====================================================================
"""
