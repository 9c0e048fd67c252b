"""A runbook of somebody who runs Casebound without a model: it asks, and hands over what it may not do."""

from bot.playbook import PlaybookModel
from bot.playbook.parse import parse

RESTART = b"""
name = "restart"
title = "Restart the oven"

[match]
labels = { alertname = "OvenCold" }
any = ["the oven is off"]

[[step]]
call = "svc.restart"
args = { service = "oven" }
as = "done"

[[step]]
when = "done.outcome == 'denied'"
call = "case.hand_off"
args = { reason = "the oven was not restarted ({done.text})" }

[[step]]
say = "That is all."
"""


def restarting() -> PlaybookModel:
    """It restarts the oven where an alert or somebody says that it is off, once somebody has approved that."""
    return PlaybookModel([parse(RESTART, "restart.toml")])
