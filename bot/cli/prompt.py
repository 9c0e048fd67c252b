"""`casebound prompt …`: what the model is told, as it is sent."""

from typing import Annotated

import typer

from bot.cli.arguments import Json
from bot.cli.command import command, group
from bot.cli.here import Here
from bot.cli.out import document, say
from bot.cli.toolbox import box

app = group("prompt", "The prompt: what the model is told before anything is said.")

On = Annotated[
    list[str] | None, typer.Option("--on", metavar="CHANNEL", help="As in a case spoken on it; may be repeated.")
]


@command(app, "show")
def show(here: Here, on: On = None, json: Json = False) -> None:
    """The prompt as it is sent, and the version that runs record; with --json the schemas of the tools too."""
    from bot.models import prompt

    settings, tools = here.settings, box(here).offered
    first = prompt.Prompt(
        settings.prompt.label or settings.model.name, prompt.first_part(prompt.house(settings)), prompt.schemas(tools)
    )
    sent = prompt.whole(first, settings, tools, on or ())
    if json:
        document({"label": sent.label, "version": sent.version, "text": sent.text, "tools": sent.tools})
        return
    say(sent.text)
    say()
    say(f"version {sent.version}, with {len(tools)} tools (see: casebound tools list)")
