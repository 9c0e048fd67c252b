"""What people type to the bot in a channel, `/case …` and `/gate …`: the same acts as on the command line, for them.

`line` reads what was typed, `answer` finds who answers it, `case` and `gate` have one function for each verb. Whoever
types it acts by the principal their account is bound to, within what that one may see (R20, R21).
"""
