"""How the bot is shown things, over the gateway and over HTTP alike."""

import hashlib
from urllib.parse import quote

from tests.wire.discord.guilds import Guild
from tests.wire.discord.intents import Intent
from tests.wire.discord.messages import Attached, Flag, Message
from tests.wire.discord.payload import Json
from tests.wire.discord.permissions import May
from tests.wire.discord.places import Direct, Place, Room, Thread
from tests.wire.discord.world import World

# https://docs.discord.com/developers/reference#signed-attachment-cdn-urls: "a preset expiry time"; it is a day.
LINK_SECONDS = 24 * 3600


def message(world: World, said: Message, content: bool = True) -> Json:
    """https://docs.discord.com/developers/resources/message#message-object

    `content` False: to an application without the intent, which gets "empty values in fields that contain
    user-inputted content" (gateway#message-content-intent).
    """
    told = content or world.hears_content(said)
    pings = said.pings
    mentioned = [*pings.users, *([pings.replied] if pings.replied is not None else [])]
    shown: Json = {
        "id": said.id, "channel_id": said.place.id, "author": said.author.as_json(), "type": said.type.value,
        "content": said.content if told else "", "embeds": said.embeds if told else [],
        "components": said.components if told else [],
        "attachments": [attachment(world, said, file) for file in said.attachments] if told else [],
        "timestamp": said.at, "edited_timestamp": said.edited_at, "tts": False, "pinned": False,
        "mention_everyone": pings.everyone, "mention_roles": pings.roles, "flags": int(said.flags),
        "mentions": [person.as_json() for person in dict.fromkeys(mentioned)],
    }  # fmt: skip
    if said.reference is not None:
        # "referenced_message: null … the referenced message was deleted".
        shown["message_reference"] = said.reference
        replied = said.replied
        if replied is not None:
            shown["referenced_message"] = None if replied.deleted else message(world, replied, content)
    if said.stickers:
        # sticker#sticker-item-object; format 1 is a PNG.
        shown["sticker_items"] = [
            {"id": str(9_000 + place), "name": name, "format_type": 1} for place, name in enumerate(said.stickers)
        ]
    if said.forwarded is not None:
        shown["message_snapshots"] = [{"message": snapshot(world, said.forwarded, told)}]
    if said.interaction is not None:
        shown |= {"interaction_metadata": said.interaction, "application_id": world.app, "webhook_id": world.app}
    if (thread := world.places.get(said.id)) is not None and isinstance(thread, Thread):
        shown["thread"] = channel(world, thread)
    return shown


def snapshot(world: World, said: Message, content: bool) -> Json:
    """message#message-snapshot-object: what a forwarded message says, without who has said it."""
    kept = ("type", "content", "embeds", "attachments", "components", "timestamp", "edited_timestamp", "flags")
    shown = message(world, said, content)
    return {name: shown[name] for name in kept} | {"mentions": [], "mention_roles": []}


def attachment(world: World, said: Message, file: Attached) -> Json:
    """message#attachment-object, with a link that is good for a while from now on."""
    url = link(world, said, file) if file.link is None else file.link
    size = len(file.content) if file.claims is None else file.claims
    shown: Json = {
        "id": file.id, "filename": file.name, "size": size, "content_type": file.mimetype, "url": url, "proxy_url": url,
    }  # fmt: skip
    if file.description is not None:
        shown["description"] = file.description
    if Flag.EPHEMERAL in said.flags:
        shown["ephemeral"] = True
    return shown


def link(world: World, said: Message, file: Attached) -> str:
    """…/reference#signed-attachment-cdn-urls: `ex` and `is` are hexadecimal times, `hm` the signature."""
    issued = int(world.clock.now())
    path = f"/attachments/{said.place.id}/{file.id}/{quote(file.name)}"
    until = f"{issued + LINK_SECONDS:x}"
    return f"{world.url}{path}?ex={until}&is={issued:x}&hm={signature(file.id, until)}&"


def signature(file_id: str, until: str) -> str:
    """What only this server can write."""
    return hashlib.sha256(f"{file_id}.{until}.cdn".encode()).hexdigest()


def channel(world: World, place: Place) -> Json:
    """A channel object; a thread comes with its metadata, and with the bot's membership if it has one."""
    shown = place.as_json()
    if isinstance(place, Thread):
        shown["thread_metadata"] = {
            "archived": place.archived, "locked": place.locked, "auto_archive_duration": place.auto_archive,
            "archive_timestamp": world.clock.iso(place.archive_changed),
            "create_timestamp": world.clock.iso(place.created),
        }  # fmt: skip
        if place.private:
            shown["thread_metadata"]["invitable"] = place.invitable
        if world.bot.id in place.members:
            shown["member"] = place.member_json(world.bot)
    return shown


def here(world: World, place: Place) -> Json:
    """The channel of an interaction: with what the person may do there. Filled in by who calls."""
    shown = channel(world, place)
    shown.setdefault("name", "")
    return shown


def over_http(world: World, said: Message) -> Json:
    """gateway#http-restrictions: over HTTP it is the application's own setting that counts, not the session's."""
    return message(world, said, Intent.MESSAGE_CONTENT in world.privileged)


def guild_create(world: World, guild: Guild) -> Json:
    """https://docs.discord.com/developers/events/gateway-events#guild-create

    `threads`: "All active threads in the guild that current user has permission to view". Rooms that the bot may not
    view come obfuscated: channel#obfuscated-channels.
    """
    rooms = [p for p in world.places.values() if isinstance(p, Room) and p.home is guild and not p.deleted]
    threads = [thread for room in rooms for thread in world.threads_of(room)]
    return {
        **guild.as_json(), "joined_at": guild.joined_at, "large": False, "unavailable": False,
        "member_count": len(guild.members), "voice_states": [], "presences": [], "stage_instances": [],
        "guild_scheduled_events": [], "soundboard_sounds": [], "members": [guild.member_json(world.bot)],
        "channels": [room.as_json(hidden=May.VIEW_CHANNEL not in room.may(world.bot)) for room in rooms],
        "threads": [
            channel(world, thread) for thread in threads
            if not thread.archived and May.VIEW_CHANNEL in thread.may(world.bot)
        ],
    }  # fmt: skip


def with_nonce(said: Message, shown: Json) -> Json:
    """message#create-message, `nonce`: "Value will appear in the Message Create event", and so it does in the answer to
    who has sent it. It is in nothing that is read later.
    """
    return shown if said.nonce is None else {**shown, "nonce": said.nonce}


def in_event(world: World, said: Message, content: bool) -> Json:
    """gateway-events#message-create: the message, and where it was said in a guild, the guild and the member."""
    shown = message(world, said, content)
    guild = said.place.guild
    if guild is not None:
        shown["guild_id"] = guild.id
        if said.author.id in guild.members:
            shown["member"] = guild.member_json(said.author, with_user=False)
    if isinstance(said.place, Direct):
        shown["channel_type"] = said.place.as_json()["type"]
    return shown
