"""What people attach to a message: whether a copy is wanted, and how it is told of to people and to the model (R23)."""

import re
from urllib.parse import quote

from bot.words.sizes import size_text
from casestore import attachments
from casestore.attachments import Attachment
from casestore.models import File, Message
from casestore.states import FileState
from casestore.tx import Tx
from channels.attached import Attached, described
from channels.messages import Inbound
from channels.text import one_line

NONE_KEPT = "no copies are kept here (files.limit is 0)"
DELETED = "deleted by its author"


def too_large(limit: int) -> str:
    """Why a file has no copy."""
    return f"larger than {size_text(limit)}"


def wanted(inbound: Inbound, limit: int) -> list[Attachment]:
    """The files of a message as they are stored; `limit` in bytes, 0: none is kept."""
    return [
        Attachment(
            inbound.address.channel, file.reference, file.name, file.media_type, file.size, _refused(file, limit)
        )
        for file in inbound.files
    ]  # fmt: skip


def lines(tx: Tx, message: Message) -> list[str]:
    """A line for each file of a message."""
    return [line(file) for file in attachments.of_message(tx, message.id)]


def line(file: File) -> str:
    """A file in one line: what it is called and is, and whether there is a copy."""
    if file.state is FileState.GONE and not file.name:
        return f"(file {file.id}: {file.reason})"
    return f"(file {file.id}: {described(file.name, file.media_type, file.size)}; {_standing(file)})"


def disposition(file: File) -> str:
    """The header that makes a browser save it; no separator, no dot in front and no hidden character is in the name."""
    name = re.sub(r'[/\\:*?"<>|%]', "_", one_line(file.name)).lstrip(". ")[:100] or f"file-{file.id}"
    return f"attachment; filename=\"file-{file.id}\"; filename*=UTF-8''{quote(name, safe='')}"


def _refused(file: Attached, limit: int) -> str | None:
    if file.withheld is not None:
        return file.withheld
    if limit == 0:
        return NONE_KEPT
    return too_large(limit) if file.size is not None and file.size > limit else None


def _standing(file: File) -> str:
    match file.state:
        case FileState.KEPT:
            return "a copy is kept"
        case FileState.WANTED:
            return "a copy is being fetched"
        case FileState.REFUSED:
            return f"not kept: {file.reason}"
        case FileState.GONE:
            return f"gone: {file.reason}"
