"""Fuzzing: seeded input that nobody would think of, and what must hold for it all the same.

    python -m tests.campaigns.fuzz                                      every target, a long round each
    python -m tests.campaigns.fuzz envelopes --seed 7 --from 812 --count 1   the example that a failure named, alone

__main__    which targets run, and the table of their figures    rounds      what a round is: seed, count, figures
calculator  expressions                                          json_trees  mutations of any JSON
envelopes   frames of Signal, read one by one                    oracle      what may come out of a frame
intake      the same frames through the intake               models      answers of models

Short rounds of all of it are part of the tests (`test_fuzz`).
"""
