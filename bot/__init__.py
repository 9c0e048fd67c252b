"""What we do about it: the only package that knows both the store and the channels.

A case arrives from a channel or an alert, the engine takes its lease, a model or a playbook works the turn
with tools, and whatever is consequential waits at a gate until a person decides. Everything durable is in
`casestore`; everything said goes out through `channels`; `bot.app` is the one place that puts them together.
"""
