"""What a case tool knows about where it is called; and what it may ask of the run."""

from dataclasses import dataclass

from casestore.turns import Begun


@dataclass(slots=True)
class Scene:
    """The run a case tool is part of. Setting `hand_off` ends it and gives the case to an operator."""

    now: int
    begun: Begun
    hand_off: str | None = None
