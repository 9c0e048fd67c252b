"""Episodes: the fingerprint names the alert, its start the episode."""

from dataclasses import replace

import pytest

from casestore import episodes
from casestore.db import Store
from casestore.episodes import Firing
from casestore.models import CaseId
from casestore.states import EpisodeState
from tests.conftest import HOUR, MINUTE, World

DISK = Firing("f1", 1_000, None, {"alertname": "disk"}, {"summary": "98 %"})


async def record(world: World, case_id: CaseId, *firings: Firing, now: int | None = None) -> None:
    for firing in firings:
        await world.store.write(episodes.record, world.now if now is None else now, case_id, firing)


async def test_the_same_report_again_is_the_same_episode(world: World, store: Store) -> None:
    case = await world.case()
    await record(world, case.id, DISK)
    await record(world, case.id, DISK, now=world.now + MINUTE)
    (episode,) = await store.read(episodes.of_case, case.id)
    assert (episode.first_seen_at, episode.last_seen_at) == (world.now, world.now + MINUTE)
    assert (episode.state, episode.labels) == (EpisodeState.FIRING, {"alertname": "disk"})
    assert await store.read(episodes.find, case.id, DISK) == episode


async def test_the_same_alert_with_another_start_is_another_episode(world: World, store: Store) -> None:
    case = await world.case()
    await record(world, case.id, DISK, replace(DISK, starts_at=2_000))
    assert len(await store.read(episodes.of_case, case.id)) == 2


async def test_members_of_a_group_resolve_one_by_one(world: World, store: Store) -> None:
    case = await world.case()
    await record(world, case.id, DISK, replace(DISK, fingerprint="f2"), replace(DISK, fingerprint="f3", ends_at=9_000))
    assert await store.read(episodes.still_firing, case.id) == 2
    await record(world, case.id, replace(DISK, ends_at=5_000))
    assert await store.read(episodes.still_firing, case.id) == 1
    assert await store.read(episodes.known, case.id) == {
        ("f1", 1_000): EpisodeState.RESOLVED,
        ("f2", 1_000): EpisodeState.FIRING,
        ("f3", 1_000): EpisodeState.RESOLVED,
    }


@pytest.mark.parametrize("late", [DISK, replace(DISK, ends_at=7_000)])
async def test_an_episode_that_ended_stays_as_it_ended_whatever_comes_late(
    world: World, store: Store, late: Firing
) -> None:
    case = await world.case()
    await record(world, case.id, replace(DISK, ends_at=5_000))
    await record(world, case.id, late, now=world.now + HOUR)
    (episode,) = await store.read(episodes.of_case, case.id)
    assert (episode.state, episode.ends_at) == (EpisodeState.RESOLVED, 5_000)


async def test_a_new_episode_ends_the_earlier_ones_of_its_alert_and_no_others(world: World, store: Store) -> None:
    case, other = await world.case(), await world.case()
    later = replace(DISK, starts_at=2_000)
    await record(world, case.id, DISK, replace(DISK, fingerprint="f2"), later)
    await record(world, other.id, DISK)
    await store.write(episodes.end_earlier, world.now, case.id, later)
    firing = {key for key, state in (await store.read(episodes.known, case.id)).items() if state is EpisodeState.FIRING}
    assert firing == {("f2", 1_000), ("f1", 2_000)}
    assert await store.read(episodes.still_firing, other.id) == 1
    ended = await store.read(episodes.find, case.id, DISK)
    assert ended is not None
    assert ended.ends_at == 2_000
