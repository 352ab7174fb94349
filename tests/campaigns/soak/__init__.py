"""The soak test: Aldis as a real process with many conversations for minutes, one of them stubborn, and an audit.

    python -m tests.campaigns.soak --conversations 200 --seconds 180 --seed 1

People write at random, alone and in groups, with doubles of Signal and of a slow model. After a warm-up comes a phase
in which all conversations are alike, and one in which one is stubborn: its model never answers, so each of its turns
times out, its sends are slow, and it still keeps writing.

Waits are compared only within the round: late ones with early ones, those beside the stubborn one with those before.
"""
