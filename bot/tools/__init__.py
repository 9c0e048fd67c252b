"""What the assistant may do: tools, each with its tier, its schema and the words an approver reads.

A module of an installation's own tools imports all it needs from here; `docs/tools.md` shows one.
"""

from bot.tools.declare import ToolFailed, declare, tool
from casestore.states import Tier

__all__ = ["Tier", "ToolFailed", "declare", "tool"]
