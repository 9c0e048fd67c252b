"""Commands in a thread, where Slack takes no slash command: a message that mentions us and begins with one.

`@casebound /case bind C-1042` is a command, answered to its author alone, and no message of any case. Ordinary words
never are: the slash has to stand first.
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

from __future__ import annotations

import re
from collections import OrderedDict

from channels.messages import Command, Inbound

_COMMAND = re.compile(r"/(case|gate)(\s|$)", re.IGNORECASE)
_REMEMBERED = 1_000


def command(said: Inbound) -> Command | None:
    """The command that a message is, or None."""
    text = said.text.strip()
    if not said.addressed or not _COMMAND.match(text):
        return None
    return Command(address=said.address, account=said.account, text=text, platform_id=said.platform_id)


class Typed:
    """What was typed so, and which of it has been done: the same message comes many times, and as two kinds of event.

    What comes again after a restart is done again: each command finds what it has done, and says so.
    """

    def __init__(self) -> None:
        self._done: OrderedDict[tuple[str, str], None] = OrderedDict()

    def begin(self, said: Inbound) -> bool:
        """Whether what this message says is still to be done; from now on it is not."""
        key = (str(said.address), said.platform_id)
        if key in self._done:
            return False
        self._done[key] = None
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)
        return True

    def forget(self, said: Inbound) -> None:
        """It could not be done after all."""
        self._done.pop((str(said.address), said.platform_id), None)
