"""Aldis in a world of its own, killed at every step: a deterministic simulation of crashes.

    scenario --> world: network (Signal and its people), model, tools, disk --> audit: the promises, each counted
                   ^  '-- app: the same loops, turns and store as in production
                   '-- timeline: virtual time; crashes: the steps at which Aldis dies

One seed is one story: who writes what and when, how the outside fails, where Aldis dies. Nothing really waits and
nothing is left to chance, so a seed that breaks a promise breaks it again. `python -m tests.campaigns.simulation` plays
long rounds.
"""
