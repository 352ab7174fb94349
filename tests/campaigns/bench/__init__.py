"""The benchmark of Aldis: `make bench`, or `python -m tests.campaigns.bench`. It measures and prints; no time makes it
fail.

__main__  the measurements, in order     figures   the table and the JSON
blocks    turns measured in a process    children  child processes, driven from here
aldis     Aldis as a subject             plain     a hand-written loop for comparison
installed the same, started like an installed Aldis
double    the model, in a process whose CPU time is not counted
upkeep    the longest steps of a large store
bill      the cost of turns at several rhythms, with caches as vendors bill them
"""
