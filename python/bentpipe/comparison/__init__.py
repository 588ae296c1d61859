"""One scenario with several variants, which meet the same seeds: which is best, and by how much.

======= ================================================================
measure what is compared: goodput, or how long users wait; and what limits it: shares of its time
api     the library function: runs, and when there are enough of them
result  the variants, best first, with what the first named gains or loses
picture intervals, and shares as bars
words   the same as a table, Markdown, CSV, and a sentence
command the command line
======= ================================================================
"""
