"""Discord: cases in threads, approvals by button.

Only `bot.app` imports this package: it needs discord.py, which everybody else can do without.
"""
