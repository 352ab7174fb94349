"""The soak: Aldis as a real process under many conversations for minutes, one of them stubborn, and then an audit.

    python -m tests.campaigns.soak --conversations 200 --seconds 180 --seed 1

Between doubles of Signal and of a model people write at random, alone and in groups. The model takes its time. There is
a warm-up, a phase in which all conversations are alike, and a phase in which one is stubborn: its model never answers,
so that each of its turns ends by its time-out, its sends are slow, and it keeps on writing all the same.

letters   who has written what, and when   phones    Signal, with the times     mind    the model, slow or silent
apart     the process, out of reach of Ctrl-C   beats     how its loop turns, and where it stands still
vitals    what the kernel and Aldis's own page tell of the process
rounds    a whole round, from the start to the end of the process    record    what is known when it is over
conversations   who was answered when, and how much of the waiting was not the model's
audit     the properties, each with its count   figures   what was measured, for people

`WORKER__CONVERSATIONS_AT_ONCE` is above the number of conversations here and no limit is ever reached: what a message
waits beyond the time that the model takes for its conversation is Aldis's own doing, or the machine's. That excess is
compared within the round alone: late messages with early ones, those beside the stubborn conversation with those
before. A machine that is too slow for the load makes it grow; ask for fewer conversations then.

What a seed repeats: who writes what, after which pauses, and how long the model takes for it. What it cannot repeat is
which messages come during a turn and are taken together in the next.
"""
