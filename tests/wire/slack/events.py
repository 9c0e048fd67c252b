"""The events that Slack tells an app of: the inner event of each.

https://docs.slack.dev/reference/events
"""

from tests.wire.slack.payload import Json
from tests.wire.slack.people import Person
from tests.wire.slack.rooms import Message, Room
from tests.wire.slack.workspace import Workspace


def message(workspace: Workspace, said: Message) -> Json:
    """reference/events/message: with the kind of room, and where a stranger is from (Slack Connect).

    https://docs.slack.dev/apis/slack-connect: `user_team`, `source_team`.
    """
    event = {
        **said.as_json(), "channel": said.room.id, "channel_type": said.room.kind.value, "event_ts": said.ts,
    }  # fmt: skip
    return with_teams(workspace, event, said.author)


def mention(workspace: Workspace, said: Message) -> Json:
    """reference/events/app_mention: the same message once more, under another type and without `channel_type`."""
    event = {**message(workspace, said), "type": "app_mention"}
    event.pop("channel_type")
    return event


def with_teams(workspace: Workspace, event: Json, person: Person) -> Json:
    """Where somebody of another workspace comes from."""
    if person.team == workspace.team:
        return event
    return {**event, "user_team": person.team, "source_team": person.team, "user_profile": {"team": person.team}}


def changed(workspace: Workspace, now: Message, before: Json) -> Json:
    """reference/events/message/message_changed: an edit, an unfurling, a chat.update; they look alike."""
    return {
        "type": "message", "subtype": "message_changed", "hidden": True, "channel": now.room.id,
        "channel_type": now.room.kind.value, "ts": workspace.clock.ts(), "event_ts": workspace.clock.ts(),
        "message": now.as_json(), "previous_message": before,
    }  # fmt: skip


def deleted(workspace: Workspace, gone: Message) -> Json:
    """reference/events/message/message_deleted; where a thread hangs below it, its place stays, as a tombstone."""
    event: Json = {
        "type": "message", "hidden": True, "channel": gone.room.id, "channel_type": gone.room.kind.value,
        "ts": workspace.clock.ts(), "event_ts": workspace.clock.ts(), "previous_message": gone.as_json(),
    }  # fmt: skip
    if gone.room.replies(gone.ts):
        tombstone = {
            "type": "message", "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted.",
            "hidden": True, "ts": gone.ts, "thread_ts": gone.ts,
        }  # fmt: skip
        return {**event, "subtype": "message_changed", "message": tombstone}
    return {**event, "subtype": "message_deleted", "deleted_ts": gone.ts}


def reaction(workspace: Workspace, person: Person, to: Message, name: str) -> Json:
    """reference/events/reaction_added"""
    return {
        "type": "reaction_added", "user": person.id, "reaction": name, "item_user": to.author.id,
        "item": {"type": "message", "channel": to.room.id, "ts": to.ts}, "event_ts": workspace.clock.ts(),
    }  # fmt: skip


def home_opened(workspace: Workspace, person: Person, tab: str) -> Json:
    """reference/events/app_home_opened; `view` only once there is one."""
    event: Json = {
        "type": "app_home_opened", "user": person.id, "channel": workspace.direct(person).id, "tab": tab,
        "event_ts": workspace.clock.ts(),
    }  # fmt: skip
    if (view := workspace.homes.get(person.id)) is not None and tab == "home":
        event["view"] = view.as_json(workspace.team, workspace.app_id, workspace.bot.bot_id)
    return event


def about_room(workspace: Workspace, kind: str, room: Room) -> Json:
    """reference/events/channel_archive, channel_deleted, channel_left, and the same of private rooms (group_…)."""
    return {"type": kind, "channel": room.id, "user": "UADMIN", "event_ts": workspace.clock.ts()}


def joined_or_left(workspace: Workspace, kind: str, room: Room, person: Person) -> Json:
    """reference/events/member_joined_channel, member_left_channel"""
    return {
        "type": kind, "user": person.id, "channel": room.id, "channel_type": room.id[0], "team": person.team,
        "event_ts": workspace.clock.ts(),
    }  # fmt: skip


def revoked(workspace: Workspace) -> Json:
    """reference/events/tokens_revoked"""
    return {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [workspace.bot.id]}}


def callback(workspace: Workspace, event: Json, event_id: str, room: Room | None) -> Json:
    """The wrapper of every event. https://docs.slack.dev/apis/events-api/#callback-field-overview"""
    return {
        "token": "deprecated", "team_id": workspace.team, "context_team_id": workspace.team,
        "context_enterprise_id": workspace.enterprise, "api_app_id": workspace.app_id, "event": event,
        "type": "event_callback", "event_id": event_id, "event_time": int(workspace.clock.now()),
        "authorizations": [{
            "enterprise_id": workspace.enterprise, "team_id": workspace.team, "user_id": workspace.bot.id,
            "is_bot": True, "is_enterprise_install": False,
        }],
        "is_ext_shared_channel": bool(room and room.shared), "event_context": f"4-{event_id}",
        **({"enterprise_id": workspace.enterprise} if workspace.enterprise else {}),
    }  # fmt: skip
