"""The crash harness: runs Aldis as a real process, kills it repeatedly with SIGKILL under load, and audits the result.

    python -m tests.campaigns.chaos --kills 500 --seed 1

A crowd writes in many conversations, with doubles of Signal, of three model APIs and of two tools' services. Aldis is
killed at random moments, at its transactions and during its requests, and restarted at once. When everything has come
to rest, what the doubles saw is compared with what is in the store.

crowd     who writes, and what                            world     all doubles, listening; the lives
phones    Signal and people's phones                      models        the models
lookups   what tools look things up in                    record    what the doubles saw, and where one kills
rounds    from the first letter to the last end           evidence  what a round leaves in the store
audit     the properties; `sends` and `calls` are part of it

A seed repeats who writes what and when, which sends and requests fail and how, and how each life ends. It cannot repeat
how the threads of a real process interleave, so a violation may need several rounds of its seed to come back.

What is not shown here: that a tool with `effects="once"` never runs twice. None of the tools used here has such
effects; the simulation, which crashes at every step, has one of its own.
"""
