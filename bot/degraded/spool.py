"""The spool: what was said and done while the store could not be written, kept until it can be again (R15).

It is kept in memory, and in `<db>.spool` where that can be written (a locked or broken database leaves the folder
usable; a full disk does not). It is written to the store in order: first the facts, then each thread as a whole.
"""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from casestore.model_steps import Usage
from casestore.models import CaseId, RunId, StepId
from channels.messages import Address, Inbound

log = logging.getLogger("casebound.spool")


class Arrived(BaseModel, frozen=True, extra="forbid"):
    """A message that could not be stored. `case_id`: the case of its thread, as far as that could be read."""

    kind: Literal["arrived"] = "arrived"
    inbound: Inbound
    case_id: CaseId | None
    at: int

    @property
    def address(self) -> Address:
        """The thread."""
        return self.inbound.address


class Answered(BaseModel, frozen=True, extra="forbid"):
    """What was answered from memory in a thread, and what it used. `platform_ids`: the pieces that were sent.

    `answers` is the last of the messages it answers, if that could not be stored, and `seen` the number of the last
    that was stored in its case: others may have come after both.
    """

    kind: Literal["answered"] = "answered"
    address: Address
    case_id: CaseId | None
    answers: str | None
    seen: int
    message: str
    """The response as a model message, in JSON."""
    text: str
    usage: Usage
    platform_ids: tuple[str, ...]
    in_doubt: bool
    """Whether the piece after those may have been sent as well."""
    at: int


class Left(BaseModel, frozen=True, extra="forbid"):
    """A run of this boot that could not go on, and could not drop its lease either."""

    kind: Literal["left"] = "left"
    case_id: CaseId
    boot: str


class Came(BaseModel, frozen=True, extra="forbid"):
    """The result of a call that was made, as `CallResult.stored` writes it."""

    kind: Literal["came"] = "came"
    step_id: StepId
    result: str
    at: int


class Used(BaseModel, frozen=True, extra="forbid"):
    """What a model call used whose response could not be stored (R10)."""

    kind: Literal["used"] = "used"
    step_id: StepId
    run_id: RunId
    usage: Usage
    at: int


Fact = Came | Used | Left
Exchange = Arrived | Answered
_ENTRY: TypeAdapter[Fact | Exchange] = TypeAdapter(Annotated[Fact | Exchange, Field(discriminator="kind")])


class Spool:
    """The entries of one file. What an earlier process left in `<db>.spool` is taken up when it is made."""

    def __init__(self, db: Path) -> None:
        self._file = db.with_name(f"{db.name}.spool")
        self._written = False
        self._facts_written: set[bytes] = set()
        self.facts: list[Fact] = []
        self.threads: dict[str, list[Exchange]] = {}
        for entry in self._left():
            self._add(entry)
        self._clear_if_empty()
        if len(self):
            log.warning("spool.found", extra={"fields": {"entries": len(self)}})

    def __len__(self) -> int:
        return len(self.facts) + sum(map(len, self.threads.values()))

    def keep(self, entry: Fact | Exchange) -> None:
        """Keep it, in the file too where that is possible; returns once it is as durable as it can be made."""
        self._add(entry)
        line = _ENTRY.dump_json(entry)
        if line in self._facts_written:  # a fact is told again as long as the store fails, and the disk may be full
            return
        try:
            # the line break in front: an earlier process may have been cut off within its last line
            self._append(b"\n" + line + b"\n")
        except OSError as error:
            log.warning("spool.in_memory_only", extra={"fields": {"error": type(error).__name__}})
            return
        if not isinstance(entry, Arrived | Answered):
            self._facts_written.add(line)

    def has(self, inbound: Inbound) -> bool:
        """Whether a message is here already: its platform delivered it again (R29)."""
        same = (entry.inbound.platform_id for entry in self.threads.get(str(inbound.address), [])
                if isinstance(entry, Arrived))  # fmt: skip
        return inbound.platform_id in same

    def drop_fact(self, fact: Fact) -> None:
        """It is in the store now."""
        self.facts.remove(fact)
        self._clear_if_empty()

    def drop_thread(self, address: str, count: int) -> None:
        """The first `count` of a thread are in the store now; what came meanwhile stays."""
        del self.threads[address][:count]
        if not self.threads[address]:
            del self.threads[address]
        self._clear_if_empty()

    def set_aside(self, entries: list[Fact] | list[Exchange]) -> None:
        """What the store refuses for good is a bug: it is kept beside, for a person to look at, and logged."""
        self._put_beside([_ENTRY.dump_json(entry) for entry in entries])

    def _put_beside(self, lines: list[bytes]) -> bool:
        beside = self._file.with_name(f"{self._file.name}.refused")
        try:
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
                file.writelines(line + b"\n" for line in lines)
        except OSError:
            log.exception("spool.lost", extra={"fields": {"entries": len(lines)}})
            return False
        return True

    def _add(self, entry: Fact | Exchange) -> None:
        if not isinstance(entry, Arrived | Answered):
            if entry not in self.facts:
                self.facts.append(entry)
            return
        thread = self.threads.setdefault(str(entry.address), [])
        thread.insert(_place(thread, entry), entry)

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._written = True
        try:
            before = os.fstat(descriptor).st_size
            try:
                if os.write(descriptor, line) < len(line):
                    raise OSError("cut off")
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, before)  # half a line would spoil the one after it
                raise
        finally:
            os.close(descriptor)

    def _left(self) -> Iterator[Fact | Exchange]:
        try:
            lines = self._file.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        unreadable: list[bytes] = []
        for line in filter(None, lines):
            try:
                yield _ENTRY.validate_json(line)
            except ValidationError:  # the last one, cut off by a full disk or a kill; or all, of another release
                unreadable.append(line)
        self._written = True
        if unreadable:
            fields = {"lines": len(unreadable), "bytes": sum(map(len, unreadable))}
            log.warning("spool.line_unreadable", extra={"fields": fields})
            self._written = self._put_beside(unreadable)

    def _clear_if_empty(self) -> None:
        if len(self) or not self._written:
            return
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:  # what is in it is in the store, and is recognised there if it is found again
            log.warning("spool.not_removed", extra={"fields": {"error": type(error).__name__}})
            return
        self._written = False
        self._facts_written.clear()


def _place(thread: list[Exchange], entry: Exchange) -> int:
    """An answer stands behind what it answers, not behind what has come meanwhile."""
    if isinstance(entry, Arrived):
        return len(thread)
    arrived = [(place, other) for place, other in enumerate(thread) if isinstance(other, Arrived)]
    for place, other in arrived:
        if other.inbound.platform_id == entry.answers:
            return place + 1
    return arrived[0][0] if arrived else len(thread)  # what it answers is in the store, before all that is here
