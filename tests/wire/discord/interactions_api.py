"""Answering interactions: …/interactions/receiving-and-responding#responding-to-an-interaction"""

from typing import cast

from tests.wire.discord import events, saying, showing
from tests.wire.discord.content import Body, Files, check_body, need_something
from tests.wire.discord.endpoints import Answer, Endpoint
from tests.wire.discord.interactions import Asked, Interaction, Reply
from tests.wire.discord.mentions import ONLY_USERS
from tests.wire.discord.messages import Flag, Message, Type
from tests.wire.discord.messages_api import change
from tests.wire.discord.modals import Modal, check_modal
from tests.wire.discord.payload import Json, invalid
from tests.wire.discord.refusals import already_acknowledged, thread_is_archived, unknown_message
from tests.wire.discord.shapes import Check, anything, boolean, listing, nullable, number, one_of, shape, string
from tests.wire.discord.world import Call, World

_reply = shape({"type": one_of(4, 5, 6, 7, 9)}, {"data": nullable(anything)})
# "only SUPPRESS_EMBEDS, EPHEMERAL, IS_COMPONENTS_V2, IS_VOICE_MESSAGE, and SUPPRESS_NOTIFICATIONS can be set".
_FLAGS = Flag.SUPPRESS_EMBEDS | Flag.EPHEMERAL | Flag.IS_COMPONENTS_V2 | Flag.SUPPRESS_NOTIFICATIONS
_fields: dict[str, Check] = {
    "tts": boolean, "content": nullable(string(2000)), "embeds": nullable(anything), "allowed_mentions": anything,
    "flags": nullable(number(0, 1 << 31)), "components": nullable(anything),
    "attachments": nullable(listing(anything, 10)),
}  # fmt: skip
MESSAGE = shape({}, _fields)
_deferred = shape({}, {"flags": nullable(number(0, 1 << 31))})


def answer(world: World, call: Call) -> Answer:
    """#create-interaction-response: once. 204, or with `with_response` what was made."""
    made = world.interactions.to_answer(call.params["interaction"], call.params["token"])
    _reply(call.body, "")
    kind = Reply(int(call.body["type"]))
    data = cast("Json", call.body.get("data") or {})
    if made.answered:
        raise already_acknowledged()
    of_component = made.message is not None
    # "Only valid for component-based interactions"; MODAL is "Not available for MODAL_SUBMIT".
    if (kind in (Reply.DEFERRED_UPDATE, Reply.UPDATE) and not of_component) or (
        kind is Reply.MODAL and made.asked is Asked.MODAL
    ):
        raise invalid("type", "INTERACTION_CALLBACK_TYPE_INVALID", f"{kind.name} does not answer this interaction")
    made_message = _first(world, made, kind, data, call)
    made.reply = kind
    world.changes.changed()
    if call.query.get("with_response", "").lower() not in ("1", "true"):
        return 204, None
    return 200, _told(world, made, kind, made_message)


def _first(world: World, made: Interaction, kind: Reply, data: Json, call: Call) -> Message | None:
    """Do what this kind of answer does."""
    if kind is Reply.MODAL:
        made.modal = Modal(check_modal(data), made)
    elif kind is Reply.DEFERRED_MESSAGE:
        _deferred(data, "data")
        flags = Flag(int(data.get("flags") or 0))
        # "the only valid message flag you may use is EPHEMERAL".
        if flags & ~Flag.EPHEMERAL:
            raise invalid("data.flags", "BITFIELD_TYPE_VALUE", "Only EPHEMERAL may be set here")
        made.original = _say(world, made, None, {}, flags | Flag.LOADING)
    elif kind is Reply.DEFERRED_UPDATE:
        made.original = made.message
    elif kind is Reply.UPDATE:
        assert made.message is not None
        change(world, made.message, _as_edit(call, data), ONLY_USERS)
        made.original = made.message
        return made.message
    else:
        body = check_body(data, call.files, MESSAGE, flags=_FLAGS)
        need_something(body.content, body.embeds or [], body.components or [], len(call.files))
        made.original = _say(world, made, body, call.files, body.flags)
        return made.original
    return None


def _say(
    world: World, made: Interaction, body: Body | None, files: Files, flags: Flag, replied: Message | None = None
) -> Message:
    """A message of the answer. An ephemeral one is for that person alone, and no event of it is sent."""
    quiet = Flag.EPHEMERAL in flags
    place = made.place
    # discord-api-docs issues 5517 and 6884: in a thread locked meanwhile the callback fails with 50083.
    if getattr(place, "archived", False) and not quiet:
        raise thread_is_archived()
    kind = Type.DEFAULT
    if made.asked is Asked.COMMAND and not made.said:
        kind = Type.CONTEXT_MENU_COMMAND if made.data["type"] != 1 else Type.CHAT_INPUT_COMMAND
    said = saying.say(
        world, place, world.bot, "" if body is None else body.content or "",
        embeds=[] if body is None else body.embeds or [], components=[] if body is None else body.components or [],
        files=saying.attached(world, files, [] if body is None else body.kept or []), type=kind, flags=flags,
        allowed=ONLY_USERS if body is None or body.allowed is None else body.allowed, replied=replied,
        to=made.person if quiet else None, interaction=world.interactions.metadata(made),
    )  # fmt: skip
    made.said.append(said)
    return said


def _as_edit(call: Call, data: Json) -> Call:
    return Call(call.name, call.verb, call.path, call.params, call.query, data, call.files, call.at)


def _told(world: World, made: Interaction, kind: Reply, message: Message | None) -> Json:
    """#interaction-callback-interaction-callback-response-object: `message` "only present if type is either
    CHANNEL_MESSAGE_WITH_SOURCE or UPDATE_MESSAGE"."""
    about: Json = {"id": made.id, "type": made.asked.value}
    if kind in (Reply.MESSAGE, Reply.DEFERRED_MESSAGE) and made.original is not None:
        about |= {
            "response_message_id": made.original.id,
            "response_message_loading": Flag.LOADING in made.original.flags,
            "response_message_ephemeral": Flag.EPHEMERAL in made.original.flags,
        }
    resource: Json = {"type": kind.value}
    if message is not None:
        resource["message"] = showing.over_http(world, message)
    return {"interaction": about, "resource": resource}


def follow_up(world: World, call: Call) -> Answer:
    """#create-followup-message. "directly after responding … with DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE, this endpoint
    will function as Edit Original Interaction Response"."""
    made = world.interactions.by_token(call.params["app"], call.params["token"])
    body = check_body(call.body, call.files, MESSAGE, flags=_FLAGS)
    need_something(body.content, body.embeds or [], body.components or [], len(call.files))
    if made.original is not None and Flag.LOADING in made.original.flags:
        change(world, made.original, _as_edit(call, {k: v for k, v in call.body.items() if k != "flags"}), ONLY_USERS)
        return 200, showing.over_http(world, made.original)
    said = _say(world, made, body, call.files, body.flags, made.original)
    return 200, showing.over_http(world, said)


def _mine(world: World, call: Call) -> Message:
    """The message that is meant, `@original` or one that was said with this token."""
    made = world.interactions.by_token(call.params["app"], call.params["token"])
    id = call.params["message"]
    known = [*made.said, *([made.message] if made.message is not None else [])]
    found = made.original if id == "@original" else next((m for m in known if m.id == id), None)
    if found is None or found.deleted:
        raise unknown_message()
    return found


def read(world: World, call: Call) -> Answer:
    """#get-original-interaction-response"""
    return 200, showing.over_http(world, _mine(world, call))


def edit(world: World, call: Call) -> Answer:
    """#edit-original-interaction-response, #edit-followup-message"""
    found = _mine(world, call)
    if Flag.EPHEMERAL not in found.flags:
        saying.may_change(found.place, world.bot)
    change(world, found, call, ONLY_USERS)
    return 200, showing.over_http(world, found)


def delete(world: World, call: Call) -> Answer:
    """#delete-original-interaction-response, #delete-followup-message"""
    found = _mine(world, call)
    found.deleted = True
    events.deleted(world, found)
    return 204, None


_HOOK = "/webhooks/{app}/{token}"
_ONE = f"{_HOOK}/messages/{{message}}"
_WAITED = ("wait", "with_components")
ENDPOINTS = (
    Endpoint(
        "answer_interaction", "POST", "/interactions/{interaction}/{token}/callback", answer, ("with_response",),
        open=True, files=True,
    ),
    Endpoint("follow_up", "POST", _HOOK, follow_up, _WAITED, open=True, files=True),
    Endpoint("get_answer", "GET", _ONE, read, open=True),
    Endpoint("edit_answer", "PATCH", _ONE, edit, _WAITED, open=True, files=True),
    Endpoint("delete_answer", "DELETE", _ONE, delete, open=True),
)  # fmt: skip
