"""Prompts: the text and tool schemas a model was really given, once each, under the hash of both (R16, R17)."""

from casestore.canonical import digest
from casestore.tx import Tx


def version(text: str, tools: str) -> str:
    """The version of a prompt: the hash of what is sent, 16 characters of it."""
    return digest("prompt", text, tools)[:16]


def keep(tx: Tx, now: int, *, text: str, tools: str, label: str) -> str:
    """Store a prompt if it is new; its version."""
    name = version(text, tools)
    tx.run(
        """INSERT INTO prompts (version, label, text, tools, first_used_at)
           VALUES (:version, :label, :text, :tools, :now) ON CONFLICT (version) DO NOTHING""",
        version=name, label=label, text=text, tools=tools, now=now,
    )  # fmt: skip
    return name
