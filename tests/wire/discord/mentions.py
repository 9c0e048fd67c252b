"""Who is really notified of a message.

https://docs.discord.com/developers/resources/message#allowed-mentions-object
"""

import re
from collections.abc import Iterable
from typing import cast

from tests.wire.discord.messages import Message, Pings
from tests.wire.discord.payload import Json, invalid, words
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Place
from tests.wire.discord.shapes import boolean, listing, nullable, one_of, shape, snowflake

USER = re.compile(r"<@!?(\d+)>")
ROLE = re.compile(r"<@&(\d+)>")
EVERYBODY = re.compile(r"@everyone|@here")

# "In regular messages, all mention types are parsed"; "In interactions and webhooks, only user mentions are parsed".
ALL: Json = {"parse": ["users", "roles", "everyone"], "replied_user": True}
ONLY_USERS: Json = {"parse": ["users"]}

_allowed = shape({}, {
    "parse": nullable(listing(one_of("users", "roles", "everyone"), 3)), "users": nullable(listing(snowflake, 100)),
    "roles": nullable(listing(snowflake, 100)), "replied_user": nullable(boolean),
})  # fmt: skip


def check_allowed(value: object, where: str = "allowed_mentions") -> Json:
    """What a request allows. `parse` is "mutually exclusive with the other fields"; a falsy list beside it is none."""
    _allowed(value, where)
    allowed = cast("Json", value)
    for name in ("users", "roles"):
        if name in words(allowed.get("parse")) and allowed.get(name):
            raise invalid(where, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", f'parse:["{name}"] and {name}: [ids...]')
    return allowed


def pinged(
    texts: Iterable[str], allowed: Json, author: Person, place: Place, people: dict[str, Person],
    replied: Message | None,
) -> Pings:  # fmt: skip
    """Whom this notifies: who stands in the text, is allowed to be notified, and may be by this author here.

    Text is read everywhere in it, in code too: the strictest reading. Embeds notify nobody and are not read.
    """
    text = "\n".join(texts)
    parse, users, roles = (words(allowed.get(name)) for name in ("parse", "users", "roles"))
    guild = place.guild
    may = place.may(author)
    found = Pings()
    for id in dict.fromkeys(USER.findall(text)):
        person = people.get(id)
        if person is not None and ("users" in parse or id in users):
            found.users.append(person)
    for id in dict.fromkeys(ROLE.findall(text)):
        role = None if guild is None else guild.roles.get(id)
        # "the role's mentionable field must be set to true, or the bot must have the MENTION_EVERYONE permission".
        if role is None or not (role.mentionable or May.MENTION_EVERYONE in may):
            continue
        if "roles" in parse or id in roles:
            found.roles.append(id)
    # "the mention format (@everyone) must also be present in the content", and the permission is needed.
    if "everyone" in parse and guild is not None and May.MENTION_EVERYONE in may:
        found.everyone = EVERYBODY.search(text) is not None
    if replied is not None and allowed.get("replied_user") and replied.author is not author:
        found.replied = replied.author
    return found
