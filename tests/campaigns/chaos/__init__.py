"""The crash harness: Aldis as a real process, killed with SIGKILL again and again under load, and then an audit.

    python -m tests.campaigns.chaos --kills 500 --rate 20 --seed 1

Between doubles of Signal, of three model APIs and of two tools' services a crowd writes in many conversations. Aldis is
killed at random moments, at its transactions and while a request of its is under way, and started again at once. When
all has come to rest, what the doubles saw is held against what is in the store.

crowd     who writes, and what                            world     all doubles, listening
phones    Signal and people's phones                      minds     the models
lookups   what tools look things up in                    tripwire  a place in a double where Aldis is killed
diary     what the doubles saw, in order                  remains   what is left in the store
nursery   the process that lives are forked from          mortal    a life that ends at a step
lives     both of these, seen from the harness            kills     how lives end
rounds    from the first letter to the evidence           rest      until nothing is open any more
evidence  what a round leaves behind                      audit     the properties; `sends` and `calls` are part of it

What a seed repeats: who writes what and when, which sends and requests fail and how, how each life is to end. What it
cannot repeat: how the threads of a real process interleave with all that. A violation may need several rounds of its
seed to come back.

What can be proved from outside about money: a completion is known to have been written down when Aldis does something
that comes after that (asks the next question of the turn, looks something up with a tool, sends the answer). From then
on it must never be asked for again. A completion that had arrived but was not written down when Aldis was killed is
asked for once more; that happens at most once in each life, and is counted.

What is not shown here: that a tool with `effects="once"` never runs twice. None of the tools that ship has effects, and
none can be switched on; the simulation that crashes at every step brings one of its own.
"""
