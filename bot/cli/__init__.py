"""The command line: everything an operator does, scriptable. One file for each noun or verb.

Nothing heavy is imported before a command needs it, so that a look at what waits is quick.
"""
