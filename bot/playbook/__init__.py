"""The embedded assistant: playbooks, which match an alert or a message and say what to call and what to say.

A playbook is a TOML file. `load_playbooks` reads them, `PlaybookModel` works them behind the same interface as
any other model, from nothing but the messages it is given. It needs no key, no network and no memory.
"""

from bot.playbook.book import Playbook
from bot.playbook.model import PlaybookModel
from bot.playbook.parse import PlaybookError, load_playbooks

__all__ = ["Playbook", "PlaybookError", "PlaybookModel", "load_playbooks"]
