"""The arguments that many commands take, each with the way it is written."""

import json
import re
from typing import Annotated, cast

import typer

from bot.first_start import OPERATOR
from bot.words.durations import duration
from casestore.trail import Head
from channels.storable import storable

_LONGEST = 18  # digits; what is longer is no number of ours


def case_number(text: str) -> int:
    """`C-1042`, `c-1042` and `1042` are the same case."""
    return _number(re.sub(r"^[cC]-", "", text), f"{text} is not a case; write it like C-1042.")


def gate_number(text: str) -> int:
    """A gate, by its number; a case is not one, although it has at most one gate open."""
    return _number(text, f"{text} is not a gate; write its number, as `gate list` shows it.")


def run_number(text: str) -> int:
    """A run, by its number."""
    return _number(text, f"{text} is not a run; write its number, as `run list` shows it.")


def file_number(text: str) -> int:
    """A file that was attached to a message, by its number."""
    return _number(text, f"{text} is not a file; write its number, as `case show` has it.")


def span(text: str) -> int:
    """`4h`, `30m`, `1h30m`: milliseconds."""
    try:
        return duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from None


def head(text: str) -> Head:
    """`17:9f86…`, as `trail verify` prints it."""
    match = re.fullmatch(r"([0-9]{1,18}):([0-9a-f]{64})", text)
    if match is None:
        raise typer.BadParameter("a head is SEQ:HASH, as `trail verify` prints it.")
    return Head(int(match[1]), match[2])


def digest_shown(text: str) -> str:
    """The first digits of a gate's digest, at least as many as a card shows."""
    if not re.fullmatch(r"[0-9a-f]{8,64}", text):
        raise typer.BadParameter("a digest is 8 to 64 hexadecimal digits, as `gate show --full` prints it.")
    return text


def changes(given: list[str]) -> dict[str, object]:
    """`--set name="x" --set days=7`: arguments and their new values, as JSON."""
    changed: dict[str, object] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{one}: write ARG=JSON.", param_hint="--set")
        try:
            changed[name] = cast("object", json.loads(value))
        except ValueError:
            hint = f"--set '{name}={json.dumps(value, ensure_ascii=False)}'"
            raise typer.BadParameter(
                f"{one}: the value has to be JSON. A text stands in quotes: {hint}", param_hint="--set"
            ) from None
    return changed


def _number(digits: str, otherwise: str) -> int:
    if not re.fullmatch(rf"[0-9]{{1,{_LONGEST}}}", digits):
        raise typer.BadParameter(otherwise)
    return int(digits)


As = Annotated[str, typer.Option("--as", metavar="PRINCIPAL", parser=storable, help="Who acts.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, and nothing else.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", parser=storable, help="Why; kept in the trail.")]
Text = Annotated[str, typer.Argument(metavar="TEXT", parser=storable, help="What is said.")]
Most = Annotated[int, typer.Option("--most", metavar="N", min=1, max=100_000, help="How many at most.")]
CaseNumber = Annotated[int, typer.Argument(metavar="CASE", parser=case_number, help="Such as C-1042.")]
GateNumber = Annotated[int, typer.Argument(metavar="GATE", parser=gate_number, help="Its number; see gate list.")]
RunNumber = Annotated[int, typer.Argument(metavar="RUN", parser=run_number, help="Its number; see run list.")]
FileNumber = Annotated[int, typer.Argument(metavar="FILE", parser=file_number, help="Its number; see case show.")]

BY_DEFAULT = OPERATOR
"""Who acts unless `--as` says otherwise: the local operator of the file."""
