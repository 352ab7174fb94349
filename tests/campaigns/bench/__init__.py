"""The benchmark of Aldis: `make bench`, or `python -m tests.campaigns.bench`. It measures and prints; it never fails by
a time.

__main__  what is measured, in order     figures   the table and the JSON
blocks    turns measured in a process    children  processes of their own, driven from here
aldis     Aldis as a subject             plain     the hand-written loop beside it
installed that, as an installed one begins
double    the model, in a process whose CPU is not counted
upkeep    the longest steps of a store that holds much
bill      what the turns cost at several rhythms, with caches as vendors bill them
"""
