"""Where people are: one adapter per platform, all of one shape.

A channel carries messages and cards between a platform and the rest of the program. It knows no store and
no model: what arrives is handed to a `Receiver`, what is to be said comes as an `Outbound`. `port.py` is the
shape, `messages.py` what passes through it, `text.py` how text is made fit to be sent.
"""
