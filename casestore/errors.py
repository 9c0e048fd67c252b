"""What can go wrong in the store.

    StoreError
    ├── StoreUnavailable        the file cannot be read or written now: try again (R15)
    │   ├── CompanionGone       its WAL or shared memory was taken away: the store saves what it can, by itself
    │   └── StoreDamaged        what is in the file cannot be made out: an operator has to act
    ├── StoreUnusable           the file is not one we may use: an operator has to act
    ├── ServiceRunning          another process already serves this file
    ├── NotFound                no such thing in this scope (R21)
    ├── MoveRefused             the guarded UPDATE found nothing to move (R2)
    ├── BadRequest              the caller asked for something that cannot be stored
    └── ConstraintBroken        a bug: the schema refused a row or a statement (loud, never retried)

`LeaseLost` is a signal, not an error: an act came from a holder that no longer holds the case (R10).
"""


class StoreError(Exception):
    """Root of all errors of the store; the message says what to do next."""


class StoreUnavailable(StoreError):
    """The store cannot answer now (disk full, locked, I/O error). A caller says "try again", never "not found".

    Of a write: nobody can see anything of it. Where the process ends before another write succeeds, the outcome is
    unknown: it may be there after the next start. So what is tried again carries an identity that is stored once.
    """


class CompanionGone(StoreUnavailable):
    """The WAL or the shared memory was taken away under us; who has them open can still save what is in the WAL."""


class StoreDamaged(StoreUnavailable):
    """The file has pages that make no sense, or cannot be read. What stands there is not known, never "not found"."""


class StoreUnusable(StoreError):
    """Not a database, another program's, a newer version, or a folder we may not write to."""


class ServiceRunning(StoreError):
    """A second service on one file is refused; the message names the holder."""


class NotFound(StoreError):
    """No such case, gate, run or principal within the scope asked; says nothing about other scopes (R21).

    `listed_by`: the command that lists those there are. How it is typed hangs on where it is said.
    """

    def __init__(self, message: str, *, listed_by: str | None = None) -> None:
        super().__init__(message)
        self.listed_by = listed_by


class MoveRefused(StoreError):
    """A move whose guard did not hold; the message says where the thing stands."""


class BadRequest(StoreError):
    """A value the store refuses before any SQL: a missing expiry (R6), an empty name, a malformed address."""


class ConstraintBroken(StoreError):
    """A row or statement that the schema refuses where no function expected it: a bug, and loud (R15)."""


class LeaseLost(Exception):
    """Signal: the lease this act was made under is gone; stop working the case, record what happened as facts."""
