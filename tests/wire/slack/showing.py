"""views.*: modals and the App Home. https://docs.slack.dev/reference/methods/views.open and its neighbours"""

from tests.wire.slack.methods import Method
from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.tokens import Token
from tests.wire.slack.views import View, check_view
from tests.wire.slack.workspace import Workspace


def answer(workspace: Workspace, view: View) -> Json:
    """The view, as every method of this family gives it back."""
    workspace.changes.changed()
    return {"view": view.as_json(workspace.team, workspace.app_id, workspace.bot.bot_id)}


def open_view(workspace: Workspace, args: Json, token: Token) -> Json:
    """views.open: a modal for the person whose trigger it is."""
    content = check_view(args["view"], "modal")
    # reference/methods/views.open#errors: `duplicate_external_id`.
    if (name := content.get("external_id")) and any(v.content.get("external_id") == name for v in _open(workspace)):
        raise Refused("duplicate_external_id")
    person = workspace.triggers.take(args["trigger_id"])
    view = View(workspace.id("V"), person, content, workspace.clock.ts())
    workspace.views[view.id] = view
    return answer(workspace, view)


def _open(workspace: Workspace) -> list[View]:
    return [view for view in workspace.views.values() if not view.closed]


def update_view(workspace: Workspace, args: Json, token: Token) -> Json:
    """views.update. Errors `not_found`, `hash_conflict`: https://docs.slack.dev/reference/methods/views.update#errors"""
    content = check_view(args["view"], "modal", "home")
    named = [v for v in workspace.views.values() if args.get("external_id") in (v.content.get("external_id") or "-",)]
    view = workspace.views.get(str(args.get("view_id"))) or (named[0] if named else None)
    if view is None or view.closed:
        raise Refused("not_found")
    return replace(workspace, view, content, args)


def publish(workspace: Workspace, args: Json, token: Token) -> Json:
    """views.publish: one person's App Home. https://docs.slack.dev/reference/methods/views.publish"""
    person = workspace.people.get(str(args["user_id"]))
    if person is None:
        raise Refused("invalid_arguments", "invalid `user_id`")
    content = check_view(args["view"], "home")
    view = workspace.homes.get(person.id)
    if view is None:
        view = View(workspace.id("V"), person, content, "")
        workspace.homes[person.id] = workspace.views[view.id] = view
    return replace(workspace, view, content, args)


def replace(workspace: Workspace, view: View, content: Json, args: Json) -> Json:
    """Other content for a view; a `hash` that is not the view's is somebody else's race."""
    if args.get("hash") and view.hash and args["hash"] != view.hash:
        raise Refused("hash_conflict")
    view.content, view.hash = content, workspace.clock.ts()
    return answer(workspace, view)


METHODS = {
    "views.open": Method(open_view, ("view", "trigger_id")),
    "views.update": Method(update_view, ("view",), ("view_id", "external_id", "hash")),
    "views.publish": Method(publish, ("view", "user_id"), ("hash",)),
}
