"""What can go wrong on a channel, as a tree.

    ChannelError
    ├── BadAddress      the text is not an address
    ├── UnknownChannel  nobody has said how text is prepared for this channel
    ├── RetryLater      nothing was sent; the same call may succeed after `after_ms`
    ├── Uncertain       it may have been sent; ask `find` before sending it again
    ├── Undeliverable   this one can never be sent, whatever is tried; those behind it can
    ├── ThreadGone      the place is lost (deleted, archived, locked, bot removed): end the binding
    ├── AuthFailed      the platform refuses our token: do not retry, turn health red
    ├── CannotTell      the platform has no way to say whether a message is there
    ├── FileGone        a file is not there any more
    ├── FileTooLarge    a file is larger than we keep
    └── FileRefused     a file is not given to us, however often we ask

All but the first two are answers to "what now?"; an adapter maps every error of its platform to one of them (R27).
No message holds a token or a platform's raw response.
"""


class ChannelError(Exception):
    """The root: everything a channel raises on purpose."""


class BadAddress(ChannelError, ValueError):
    """The text is not an address. A `ValueError` too, so that a model that holds one reports its field."""


class UnknownChannel(ChannelError):
    """No style is registered under this channel's name."""


class RetryLater(ChannelError):
    """Nothing was sent. Repeat the same call after `after_ms` milliseconds, and keep those behind it waiting.

    `after_ms` is the platform's own figure; 0 means that it named none and the caller's back-off decides.
    """

    def __init__(self, after_ms: int, why: str = "the platform asks us to wait") -> None:
        if after_ms < 0:
            raise ValueError(f"after_ms must not be negative, got {after_ms}.")
        when = f"in {after_ms} ms" if after_ms else "in a moment"
        super().__init__(f"Not sent: {why}. Try again {when}.")
        self.after_ms, self.why = after_ms, why


class Uncertain(ChannelError):
    """The connection broke after the platform may have accepted the call. Reconcile with `find` first."""

    def __init__(self, why: str) -> None:
        super().__init__(f"It may have been sent: {why}. Look for it before sending it again.")


class Undeliverable(ChannelError):
    """This call can never succeed: mark its row dead, note it on the case, go on with the next."""

    def __init__(self, why: str) -> None:
        super().__init__(f"This can never be delivered: {why}. Read it on the case instead.")
        self.why = why


class ThreadGone(ChannelError):
    """Nothing can be said at `address` (as text) any more. The binding is lost, the case is not (R3)."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"{address} is gone: {reason}. Bind the case to another thread to go on there.")
        self.address = address
        self.reason = reason


class AuthFailed(ChannelError):
    """The platform refuses our token. Retrying makes it worse; what is due stays due."""

    def __init__(self, channel: str, why: str) -> None:
        super().__init__(f"{channel} refuses our token: {why}. Put a valid one in the settings and restart.")
        self.channel = channel


class CannotTell(ChannelError):
    """Whether a message is there cannot be found out: a repeat must be marked as a possible duplicate."""

    def __init__(self, why: str) -> None:
        super().__init__(f"Cannot tell whether it was sent: {why}. Mark the repeat as a possible duplicate.")


class FileGone(ChannelError):
    """The file was deleted, or the platform does not hold it any more."""


class FileTooLarge(ChannelError):
    """It is larger than was asked for, whatever was said of its size."""


class FileRefused(ChannelError):
    """It is not given to us. The message says why, and what an admin would have to change."""
