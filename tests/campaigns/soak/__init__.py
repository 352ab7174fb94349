"""The soak test: Aldis as a real process with many conversations for minutes, one of them stubborn, and an audit.

    python -m tests.campaigns.soak --conversations 200 --seconds 180 --seed 1

People write at random, alone and in groups, with doubles of Signal and of a slow model. After a warm-up comes a phase
in which all conversations are alike, and one in which one is stubborn: its model never answers, so each of its turns
times out, its sends are slow, and it still keeps writing.

`WORKER__CONVERSATIONS_AT_ONCE` exceeds the number of conversations and no limit is reached, so a wait beyond the
model's own few seconds is due to Aldis or the machine. Waits are compared only within the round: late ones with early
ones, those beside the stubborn conversation with those before.

A seed repeats who writes what, after which pauses, and how long the model takes. It cannot repeat which messages come
during a turn and are answered together in the next.
"""
