"""How a command is declared. Each takes `--db` and `--config`, before the noun or after the verb."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Concatenate, ParamSpec, cast

import typer

from bot.cli.here import Here

P = ParamSpec("P")

Db = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="The database; otherwise [service] db, or ./casebound.db."),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The settings; otherwise ./casebound.toml, where there is one."),
]


def group(name: str, help: str) -> typer.Typer:
    """A noun, whose verbs are commands."""
    return typer.Typer(
        name=name, help=help, short_help=help.rstrip("."), no_args_is_help=True, add_completion=False,
        rich_markup_mode=None, pretty_exceptions_enable=False,
    )  # fmt: skip


def command(
    app: typer.Typer, name: str
) -> Callable[[Callable[Concatenate[Here, P], None]], Callable[Concatenate[Here, P], None]]:
    """Make a function a command of `app`: its first parameter is where it works, the others are its own.

    Its docstring is what `--help` says.
    """

    def register(function: Callable[Concatenate[Here, P], None]) -> Callable[Concatenate[Here, P], None]:
        _, *own = inspect.signature(function, eval_str=True).parameters.values()

        def run(ctx: typer.Context, db: Db, config: Config, **given: object) -> None:
            outer = cast("Here", ctx.obj)
            here = Here(
                outer.given_config if config is None else config, outer.given_db if db is None else db
            )  # fmt: skip
            cast("Callable[..., None]", function)(here, **given)

        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter("ctx", keyword, annotation=typer.Context),
            *(parameter.replace(kind=keyword) for parameter in own),
            inspect.Parameter("db", keyword, default=None, annotation=Db),
            inspect.Parameter("config", keyword, default=None, annotation=Config),
        ]
        run.__doc__ = inspect.cleandoc(function.__doc__ or "")
        first_sentence = run.__doc__.partition(".")[0]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__dict__["__signature__"] = inspect.Signature(parameters)
        app.command(name, short_help=first_sentence)(run)
        return function

    return register
