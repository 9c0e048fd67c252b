"""What a person does by hand: presses, submits, runs a command. The payload of each.

https://docs.slack.dev/reference/interaction-payloads
"""

from aiohttp import web

from tests.wire.slack.blocks import check_message
from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.people import Person
from tests.wire.slack.rooms import Message, Room
from tests.wire.slack.views import View
from tests.wire.slack.workspace import Interaction, Workspace

# https://docs.slack.dev/interactivity/handling-user-interaction#message_responses: "up to 5 times within 30 minutes".
MOST_ANSWERS = 5
SECONDS = 30 * 60


class Interactions:
    """Builds the payloads, and answers the addresses that they carry (`response_url`)."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def _who(self, person: Person) -> Json:
        workspace = self._workspace
        return {
            "team": {"id": workspace.team, "domain": workspace.team.lower()}, "api_app_id": workspace.app_id,
            "enterprise": None if workspace.enterprise is None else {"id": workspace.enterprise, "name": "Grid"},
            "is_enterprise_install": False, "token": "deprecated",
            "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": person.team},
        }  # fmt: skip

    def url(self, person: Person, room: Room | None, message: Message | None = None) -> str:
        """A new address to answer at."""
        name = self._workspace.id("R")
        self._workspace.interactions[name] = Interaction(room, message, person, self._workspace.clock.now())
        return f"{self._workspace.url}/actions/{self._workspace.team}/{name}"

    def press(self, person: Person, on: Message | View, block: Json, element: Json, value: Json) -> Json:
        """reference/interaction-payloads/block_actions-payload"""
        payload: Json = {
            "type": "block_actions", **self._who(person), "trigger_id": self._workspace.triggers.give(person),
            "state": {"values": {}},
            "actions": [{
                "type": element["type"], "action_id": element["action_id"], "block_id": block["block_id"],
                **{k: element[k] for k in ("text", "value", "style") if k in element}, **value,
                "action_ts": self._workspace.clock.ts(),
            }],
        }  # fmt: skip
        if isinstance(on, View):
            return {**payload, "container": {"type": "view", "view_id": on.id}, "view": self._view(on)}
        container = {
            "type": "message", "message_ts": on.ts, "channel_id": on.room.id, "is_ephemeral": on.to is not None,
            **({"thread_ts": on.thread_ts} if on.thread_ts else {}),
        }  # fmt: skip
        return {
            **payload, "container": container, "channel": {"id": on.room.id, "name": on.room.name or "directmessage"},
            "message": on.as_json(), "response_url": self.url(person, on.room, on),
        }  # fmt: skip

    def _view(self, view: View, values: Json | None = None) -> Json:
        return view.as_json(self._workspace.team, self._workspace.app_id, self._workspace.bot.bot_id, values)

    def submission(self, person: Person, view: View, values: Json) -> Json:
        """reference/interaction-payloads/view-interactions-payload#view_submission"""
        return {
            "type": "view_submission", **self._who(person), "trigger_id": self._workspace.triggers.give(person),
            "view": self._view(view, values), "response_urls": [],
        }  # fmt: skip

    def closing(self, person: Person, view: View) -> Json:
        """…#view_closed, which comes only for a view with `notify_on_close`."""
        return {"type": "view_closed", **self._who(person), "view": self._view(view), "is_cleared": False}

    def shortcut(self, person: Person, callback_id: str, on: Message | None) -> Json:
        """reference/interaction-payloads/shortcuts-interaction-payload: global, or on a message."""
        payload: Json = {
            "type": "shortcut" if on is None else "message_action", **self._who(person), "callback_id": callback_id,
            "trigger_id": self._workspace.triggers.give(person), "action_ts": self._workspace.clock.ts(),
        }  # fmt: skip
        if on is None:
            return payload
        return {
            **payload, "channel": {"id": on.room.id, "name": on.room.name or "directmessage"}, "message_ts": on.ts,
            "message": on.as_json(), "response_url": self.url(person, on.room),
        }  # fmt: skip

    def command(self, person: Person, room: Room, command: str, text: str) -> Json:
        """https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling

        A form of texts. It does not say in which thread it was typed: Slack does not run commands in threads.
        """
        workspace = self._workspace
        names = {"im": "directmessage", "group": "privategroup"}
        return {
            "token": "deprecated", "team_id": workspace.team, "team_domain": workspace.team.lower(),
            **({"enterprise_id": workspace.enterprise} if workspace.enterprise else {}),
            "channel_id": room.id, "channel_name": names.get(room.kind.value, room.name), "user_id": person.id,
            "user_name": person.name, "command": command, "text": text, "api_app_id": workspace.app_id,
            "is_enterprise_install": "false", "response_url": self.url(person, room),
            "trigger_id": workspace.triggers.give(person),
        }  # fmt: skip

    async def answer(self, request: web.Request) -> web.Response:
        """A post to a `response_url`. Refusals are plain text with 404; a good one is `ok`."""
        found = self._workspace.interactions.get(request.match_info["name"])
        now = self._workspace.clock.now()
        if found is None or now > found.at + SECONDS:
            return web.Response(status=404, text="expired_url")
        if len(found.answers) >= MOST_ANSWERS:
            return web.Response(status=404, text="used_url")
        body: Json = await request.json()
        try:
            if body.get("blocks"):
                check_message(body["blocks"])
        except Refused as refused:
            return web.json_response(refused.answer(), status=400)
        found.answers.append(body)
        if (message := found.message) is not None and body.get("delete_original"):
            message.deleted = True
        elif message is not None and body.get("replace_original", True) and not body.get("response_type"):
            message.versions.append(message.blocks)
            message.text, message.blocks = str(body.get("text", "")), body.get("blocks", [])
        self._workspace.changes.changed()
        return web.Response(text="ok")
