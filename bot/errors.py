"""What can go wrong in the bot, as a tree.

    CaseboundError
    ├── SettingsError       the settings cannot be used: an operator has to change them
    ├── Refused             this person may not, or it cannot be done now; the message is for them
    ├── ModelUnavailable    the model did not answer this time: asking again may succeed
    └── ModelRefused        the model will not answer, however often it is asked: an operator has to act

Beside it, where they are raised: `ToolFailed`, `BadArguments` and `BadDeclaration` in `bot/tools`, `PlaybookError` in
`bot/playbook`. What the store and the channels raise is in `casestore/errors.py` and `channels/errors.py`.

Every message is one sentence or two that a person may see: what happened, and what to do. None holds a secret.
"""


class CaseboundError(Exception):
    """The root: everything the bot raises on purpose."""


class SettingsError(CaseboundError, ValueError):
    """A setting that cannot be used; the message names the key and where it was set, and never a secret's value.

    A `ValueError` too, so that a model which checks its own settings reports it.
    """


class Refused(CaseboundError):
    """Somebody asked for what they may not do, or what cannot be done now; shown to that person as it is."""


class ModelUnavailable(CaseboundError):
    """The model did not answer: overloaded, rate limited, timed out, unreachable.

    `after_ms` is how long the provider asks us to wait, in milliseconds; None when it does not say. `who` is the
    model, by its name and address, where that is known.
    """

    def __init__(self, why: str, after_ms: int | None = None, *, who: str = "") -> None:
        super().__init__(f"{_the_model(who)} did not answer: {why}.")
        self.why, self.after_ms, self.who = why, after_ms, who

    def of(self, who: str) -> "ModelUnavailable":
        """The same of a model that has a name."""
        return ModelUnavailable(self.why, self.after_ms, who=who)


class ModelRefused(CaseboundError):
    """The provider refuses the request itself (a wrong key, an unknown model, a bad request): never asked again.

    `mend` is what an operator has to do, a sentence or two; `who` as above.
    """

    def __init__(self, why: str, mend: str = "Correct [model] in the settings and restart.", *, who: str = "") -> None:
        super().__init__(f"{_the_model(who)} cannot be used: {why}. {mend}")
        self.why, self.mend, self.who = why, mend, who

    def of(self, who: str) -> "ModelRefused":
        """The same of a model that has a name."""
        return ModelRefused(self.why, self.mend, who=who)


def _the_model(who: str) -> str:
    return f"The model {who}" if who else "The model"
