"""The soak test: runs Aldis as a real process with many conversations for minutes, one of them stubborn, and audits it.

    python -m tests.campaigns.soak --conversations 200 --seconds 180 --seed 1

People write at random, alone and in groups, with doubles of Signal and of a slow model. After a warm-up comes a phase
in which all conversations are alike, and one in which one is stubborn: its model never answers, so each of its turns
times out, its sends are slow, and it still keeps writing.

letters   who has written what, and when   phones    Signal, with the times     model   slow or silent
apart     the process, out of reach of Ctrl-C   beats     how its loop turns, and where it stands still
process_stats   what the kernel and Aldis's own page tell of the process
rounds    a whole round, from the start to the end of the process    record    what is known when it is over
conversations   who was answered when, and how much of the waiting was not the model's
audit     the properties, each with its count   figures   what was measured, for people

`WORKER__CONVERSATIONS_AT_ONCE` exceeds the number of conversations here and no limit is ever reached, so the time that
a message waits beyond the model's time is due to Aldis or the machine. That excess is compared only within the round:
late messages with early ones, those beside the stubborn conversation with those before. It grows on a machine that is
too slow for the load; use fewer conversations there.

A seed repeats who writes what, after which pauses, and how long the model takes. It cannot repeat which messages come
during a turn and are answered together in the next.
"""
