"""Triggers: the right to show one person one modal, for three seconds, once.

https://docs.slack.dev/interactivity/handling-user-interaction#modal_responses: "you'll have three seconds".
"""

from dataclasses import dataclass
from itertools import count

from tests.wire.slack.clock import Clock
from tests.wire.slack.payload import Refused
from tests.wire.slack.people import Person

SECONDS = 3


@dataclass
class Trigger:
    """Given out with an interaction."""

    person: Person
    until: float
    used: bool = False


class Triggers:
    """All that were given out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._numbers = count(1)
        self._given: dict[str, Trigger] = {}

    def give(self, person: Person) -> str:
        """A new one, in Slack's form: three parts with dots."""
        text = f"{int(self._clock.now())}.{next(self._numbers):013d}.0123456789abcdef"
        self._given[text] = Trigger(person, self._clock.now() + SECONDS)
        return text

    def take(self, text: object) -> Person:
        """Whose it is. Errors: https://docs.slack.dev/reference/methods/views.open#errors"""
        trigger = self._given.get(str(text))
        if trigger is None:
            raise Refused("invalid_trigger_id")
        if trigger.used:
            raise Refused("exchanged_trigger_id")
        if self._clock.now() > trigger.until:
            raise Refused("expired_trigger_id")
        trigger.used = True
        return trigger.person
