"""The benchmark of Aldis: `make bench`, or `python -m tests.campaigns.bench`. It measures and prints; no time makes it
fail.

__main__  the measurements, in order     figures   the table
runs      what is measured, and how      model     what answers
subject   Aldis in a process of its own  blocks    turns measured within it
aldis     all of Aldis, with a transport that is a function call
upkeep    the longest steps of a large store
bill      the cost of turns at several rhythms, with caches as vendors bill them
evidence  how long a claim takes to check, and its cost
"""
