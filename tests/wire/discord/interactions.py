"""Interactions: what happens when somebody runs a command, presses a button or sends a form off, and its token.

https://docs.discord.com/developers/interactions/receiving-and-responding
"""

from dataclasses import dataclass, field
from enum import IntEnum
from uuid import uuid4

from tests.wire.discord import showing
from tests.wire.discord.messages import Message
from tests.wire.discord.modals import Modal
from tests.wire.discord.payload import Json
from tests.wire.discord.people import Person
from tests.wire.discord.places import Direct, Place
from tests.wire.discord.refusals import invalid_webhook_token, unknown_interaction, unknown_webhook
from tests.wire.discord.world import World

# #interaction-callback: "tokens are valid for 15 minutes"; "an initial response within 3 seconds".
TOKEN_SECONDS = 15 * 60
ANSWER_SECONDS = 3


class Asked(IntEnum):
    """#interaction-object-interaction-type"""

    COMMAND = 2
    COMPONENT = 3
    MODAL = 5


class Reply(IntEnum):
    """#interaction-response-object-interaction-callback-type"""

    MESSAGE = 4
    DEFERRED_MESSAGE = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    MODAL = 9


@dataclass(eq=False)
class Interaction:
    """One interaction. `reply` is how it was answered; `original` the first message of the answer; `modal` the form.

    `said` is everything that was said with its token, the original first.
    """

    id: str
    token: str
    asked: Asked
    person: Person
    place: Place
    at: float
    data: Json
    message: Message | None = None
    opened_by: "Interaction | None" = None
    reply: Reply | None = None
    original: Message | None = None
    modal: Modal | None = None
    said: list[Message] = field(default_factory=list[Message])
    payload: Json = field(default_factory=dict[str, object])

    @property
    def answered(self) -> bool:
        """Whether the bot has acknowledged it."""
        return self.reply is not None

    @property
    def text(self) -> str:
        """What the person is told in answer, one message below the other."""
        return "\n".join(message.content for message in self.said if not message.deleted)


class Interactions:
    """All interactions of this world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.all: list[Interaction] = []
        # A token is a secret, and another one on every server: clients keep things by it beyond one connection.
        self._salt = uuid4().hex

    def new(
        self, asked: Asked, person: Person, place: Place, data: Json, *, message: Message | None = None,
        opened_by: Interaction | None = None,
        shown: list[Json] | None = None,
    ) -> Interaction:  # fmt: skip
        """Somebody has done something. `shown`: the components that the message had when they did."""
        id = self._world.clock.snowflake()
        made = Interaction(
            id, f"{self._salt}{id}", asked, person, place, self._world.clock.now(), data, message, opened_by
        )  # fmt: skip
        made.payload = self._payload(made)
        if shown is not None:
            made.payload["message"]["components"] = shown
        self.all.append(made)
        return made

    def _payload(self, made: Interaction) -> Json:
        """#interaction-object-interaction-structure: `member` in a guild, `user` in a direct message."""
        world, place, person = self._world, made.place, made.person
        guild = place.guild
        shown: Json = {
            "id": made.id, "application_id": world.app, "type": made.asked.value, "token": made.token, "version": 1,
            "channel_id": place.id,
            "channel": {**showing.here(world, place), "permissions": str(int(place.may(person)))},
            "data": made.data, "app_permissions": str(int(place.may(world.bot))), "locale": "en-US",
            "entitlements": [], "attachment_size_limit": 20 * 1024 * 1024,
            "authorizing_integration_owners": {"0": "0" if guild is None else guild.id},
            "context": 1 if isinstance(place, Direct) else 0,
        }  # fmt: skip
        if guild is None:
            shown["user"] = person.as_json()
        else:
            member = {**guild.member_json(person), "permissions": str(int(place.may(person)))}
            features: list[str] = []
            shown |= {
                "guild_id": guild.id, "guild": {"id": guild.id, "locale": "en-US", "features": features},
                "guild_locale": "en-US", "member": member,
            }  # fmt: skip
        if made.message is not None:
            shown["message"] = showing.message(world, made.message)
        return shown

    def to_answer(self, id: str, token: str) -> Interaction:
        """The one that a callback answers, within three seconds: "If the 3 second deadline is exceeded, the token will
        be invalidated"; 10062 then, and for one that never was."""
        found = next((i for i in self.all if i.id == id and i.token == token), None)
        if found is None:
            raise unknown_interaction()
        if not found.answered and self._world.clock.now() - found.at > ANSWER_SECONDS:
            raise unknown_interaction()
        return found

    def by_token(self, app: str, token: str) -> Interaction:
        """The one that a follow-up belongs to: after the callback (10015 before), for fifteen minutes (50027 then)."""
        found = next((i for i in self.all if i.token == token), None)
        if found is None or app != self._world.app or not found.answered:
            raise unknown_webhook()
        if self._world.clock.now() - found.at > TOKEN_SECONDS:
            raise invalid_webhook_token()
        return found

    def metadata(self, made: Interaction) -> Json:
        """https://docs.discord.com/developers/resources/message#message-interaction-metadata-object"""
        shown: Json = {
            "id": made.id, "type": made.asked.value, "user": made.person.as_json(),
            "authorizing_integration_owners": made.payload["authorizing_integration_owners"],
        }  # fmt: skip
        if made.asked is Asked.COMPONENT and made.message is not None:
            shown["interacted_message_id"] = made.message.id
        if made.asked is Asked.COMMAND:
            shown |= {"name": made.data["name"], "command_type": made.data["type"]}
        if made.opened_by is not None:
            shown["triggering_interaction_metadata"] = self.metadata(made.opened_by)
        return shown
