"""A platform that outlives the service: the shipped memory channel, whose platform side is a journal in a file.

What the platform has accepted is one appended line; a channel made on the same file has it in its memory again.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from pydantic import TypeAdapter

from channels.errors import ChannelError
from channels.memory import MemoryChannel
from channels.messages import Address, Content, Outbound, Sent

_CONTENT: TypeAdapter[Content] = TypeAdapter(Content)

Line = Mapping[str, object]


class JournalledChannel(MemoryChannel):
    """The memory channel on a file. `moment` is told what is about to be, or has just been, accepted."""

    def __init__(self, path: Path, *, can_find: bool = True, moment: Callable[[str], object] = lambda _: None) -> None:
        super().__init__(can_find=can_find)
        self._path, self._moment = path, moment
        for line in read(path):
            self._accept(line)

    async def send(self, outbound: Outbound) -> str:
        lost = self._fault("send", outbound.address)
        platform_id = self._next_id("b")
        self._moment(f"before a {outbound.content.kind} is sent")
        self._keep({"did": "send", "id": platform_id, "outbound": outbound.model_dump(mode="json")})
        self._moment(f"after a {outbound.content.kind} is sent")
        return self._answer(lost, platform_id)

    async def edit(self, address: Address, platform_id: str, content: Content) -> None:
        lost = self._fault("edit", address)
        self._standing_at(address, platform_id)
        self._keep({
            "did": "edit", "id": platform_id, "address": str(address), "content": content.model_dump(mode="json")
        })  # fmt: skip
        self._moment("after a card is edited")
        self._answer(lost, platform_id)

    def _keep(self, line: Line) -> None:
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, json.dumps(line).encode() + b"\n")
        finally:
            os.close(fd)
        self._accept(line)

    def _accept(self, line: Line) -> None:
        platform_id = str(line["id"])
        if line["did"] == "send":
            outbound = Outbound.model_validate(line["outbound"])
            self.sent.append(Sent(outbound=outbound, platform_id=platform_id))
            self._standing[outbound.address, platform_id] = outbound
            self._numbers = max(self._numbers, int(platform_id[1:]))
            return
        address = Address.parse(str(line["address"]))
        content = _CONTENT.validate_python(line["content"])
        self._standing[address, platform_id] = self._standing[address, platform_id].model_copy(
            update={"content": content, "possible_duplicate": False}
        )

    def _standing_at(self, address: Address, platform_id: str) -> Outbound:
        return self._standing[address, platform_id]

    @staticmethod
    def _answer(lost: ChannelError | None, platform_id: str) -> str:
        if lost is not None:
            raise lost
        return platform_id


def read(path: Path) -> list[Line]:
    """What the platform has accepted, oldest first."""
    if not path.exists():
        return []
    return [cast("Line", json.loads(line)) for line in path.read_text().splitlines()]
