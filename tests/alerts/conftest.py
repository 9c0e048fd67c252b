"""An intake on a real store: notifications go in, and what became of them comes out."""

from dataclasses import dataclass

import pytest

from bot.alerts import intake
from bot.alerts.group import Group
from bot.alerts.intake import Taken
from bot.settings import Settings
from casestore import cases, episodes, messages, trail
from casestore.canonical import decode
from casestore.db import Store
from casestore.models import Case, CaseId, Episode, Message
from casestore.scope import System
from casestore.states import EpisodeState
from tests.conftest import World


@dataclass(frozen=True)
class Intake:
    """Takes notifications as the endpoint does."""

    store: Store
    now: int

    async def take(self, group: Group, *, now: int | None = None) -> Taken:
        """Store a notification."""
        at = self.now if now is None else now
        return await self.store.write(intake.receive, at, group, Settings(), None)

    async def open(self, group: Group) -> Case:
        """Store one that opens a case."""
        taken = await self.take(group)
        assert taken.case is not None
        assert taken.what == "opened"
        return taken.case

    async def case(self, case_id: CaseId) -> Case:
        """A case as it is now."""
        return await self.store.read(cases.by_id, case_id)

    async def all_cases(self) -> list[Case]:
        """Every case, the oldest first."""
        return sorted(await self.store.read(cases.listing, System()), key=lambda case: case.id)

    async def members(self, case_id: CaseId) -> dict[str, EpisodeState]:
        """The members of a case's group, by fingerprint; a later episode stands for an earlier one."""
        return {member.fingerprint: member.state for member in await self.episodes(case_id)}

    async def episodes(self, case_id: CaseId) -> list[Episode]:
        """The members as they are stored."""
        return await self.store.read(episodes.of_case, case_id)

    async def messages(self, case_id: CaseId) -> list[Message]:
        """The conversation."""
        return await self.store.read(messages.of_case, System(), case_id)

    async def trail(self, case_id: CaseId) -> list[tuple[str, dict[str, object]]]:
        """What happened and its meta."""
        entries = await self.store.read(trail.read, System(), case_id)
        return [(entry.kind, decode(entry.meta)) for entry in entries]


@pytest.fixture
def alerts(store: Store, world: World) -> Intake:
    """The intake, on a store where the usual people are known."""
    return Intake(store, world.now)
