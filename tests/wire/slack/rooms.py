"""Rooms (Slack: channels, conversations) and the messages in them."""

from dataclasses import dataclass, field
from enum import StrEnum

from tests.wire.slack.payload import Json
from tests.wire.slack.people import Person


class Kind(StrEnum):
    """What Slack calls the type of a channel."""

    PUBLIC = "channel"
    PRIVATE = "group"
    DIRECT = "im"
    GROUP_DIRECT = "mpim"


@dataclass(eq=False)
class Message:
    """One message. `versions` are the blocks it had before, oldest first: a person's screen may still show them."""

    room: "Room"
    ts: str
    author: Person
    text: str
    blocks: list[Json] = field(default_factory=list[Json])
    thread_ts: str | None = None
    metadata: Json | None = None
    files: list[Json] = field(default_factory=list[Json])
    attachments: list[Json] = field(default_factory=list[Json])
    nonce: str = ""
    edited_ts: str | None = None
    deleted: bool = False
    truncated: bool = False
    to: Person | None = None
    subtype: str = ""
    versions: list[list[Json]] = field(default_factory=list[list[Json]])

    @property
    def root(self) -> str:
        """The thread it is in or begins: what a reply to it names."""
        return self.thread_ts or self.ts

    def as_json(self, *, metadata: bool = False) -> Json:
        """As history and events show it.

        https://docs.slack.dev/reference/methods/conversations.history: metadata only on request.
        """
        shown: Json = {"type": "message", "user": self.author.id, "text": self.text, "ts": self.ts}
        shown["team"] = self.author.team
        if self.author.bot_id:
            shown |= {"bot_id": self.author.bot_id, "app_id": self.author.app_id}
        for name, value in (
            ("subtype", self.subtype), ("blocks", self.blocks), ("files", self.files),
            ("attachments", self.attachments), ("client_msg_id", self.nonce),
        ):  # fmt: skip
            if value:
                shown[name] = value
        if self.edited_ts:
            shown["edited"] = {"user": self.author.id, "ts": self.edited_ts}
        if metadata and self.metadata is not None:
            shown["metadata"] = self.metadata
        replies = self.room.replies(self.ts)
        if self.thread_ts or replies:
            shown["thread_ts"] = self.root
        if replies:
            shown |= {
                "reply_count": len(replies), "latest_reply": replies[-1].ts,
                "reply_users": sorted({reply.author.id for reply in replies}),
            }  # fmt: skip
        return shown


@dataclass(eq=False)
class Room:
    """One conversation. `shared` with other workspaces is Slack Connect."""

    id: str
    name: str
    team: str
    kind: Kind = Kind.PUBLIC
    members: set[str] = field(default_factory=set[str])
    archived: bool = False
    deleted: bool = False
    shared: bool = False
    messages: dict[str, Message] = field(default_factory=dict[str, Message])

    def message(self, ts: str) -> Message | None:
        """The message of this name, unless it has been deleted."""
        found = self.messages.get(ts)
        return None if found is None or found.deleted else found

    def replies(self, root: str) -> list[Message]:
        """What was said in the thread below its first message, oldest first."""
        return [m for m in self.standing() if m.thread_ts == root and m.ts != root]

    def standing(self) -> list[Message]:
        """What is there and everybody sees, oldest first."""
        return [m for m in self.messages.values() if not m.deleted and m.to is None]

    def as_json(self) -> Json:
        """As conversations.info shows it. https://docs.slack.dev/reference/objects/conversation-object"""
        shown: Json = {
            "id": self.id,
            "created": 1_700_000_000,
            "is_archived": self.archived,
            "is_channel": self.kind is Kind.PUBLIC,
            "is_group": self.kind is Kind.PRIVATE,
            "is_im": self.kind is Kind.DIRECT,
            "is_mpim": self.kind is Kind.GROUP_DIRECT,
            "is_private": self.kind is not Kind.PUBLIC,
            "is_shared": self.shared,
            "is_ext_shared": self.shared,
            "is_org_shared": False,
            "context_team_id": self.team,
        }
        if self.kind is not Kind.DIRECT:
            shown |= {"name": self.name, "name_normalized": self.name}
        return shown
