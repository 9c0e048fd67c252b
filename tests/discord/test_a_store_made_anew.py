"""A store that was set up anew, or restored, gives the same numbers again: Discord remembers the old ones."""

from __future__ import annotations

from tests.discord.household import Household
from tests.discord.reading import read
from tests.loop.scripted import says


async def anew(home: Household) -> None:
    """Start with an empty store, a moment later."""
    await home.close()
    for file in home.db.parent.glob(f"{home.db.name}*"):
        if file.is_file():
            file.unlink()
    home.discord.advance(2)
    await home.open()


async def test_a_case_with_the_number_of_an_older_one_has_a_thread_of_its_own(home: Household) -> None:
    home.answers(says("Hello."))
    older = await home.asks("between us")
    await home.shows(older, "Hello.")
    await anew(home)
    home.answers(says("Hello, kim."))
    thread = await home.asks("another matter", by=home.kim)
    await home.shows(thread, "Hello, kim.")
    assert thread is not older
    assert [read(said) for said in home.discord.posts(older)] == ["Hello."]


async def test_a_case_opened_by_a_command_with_the_number_of_an_older_one_has_a_thread_of_its_own(
    home: Household,
) -> None:
    home.answers(says("Hello."))
    older = await home.asks("between us")
    await home.shows(older, "Hello.")
    await anew(home)
    home.clock.ms += 3_600_000
    home.discord.advance(3_600)
    home.answers(says("Hello, kim."))
    home.kim.runs("case open", where=home.kitchen, text="another matter")
    _, thread = await home.discord.threads(home.kitchen, 2)
    await home.shows(thread, "Hello, kim.")
    assert [read(said) for said in home.discord.posts(older)] == ["Hello."]


async def test_what_is_said_is_said_although_discord_remembers_another_post_of_that_number(home: Household) -> None:
    home.answers(says("Hello."))
    await home.shows(await home.asks("between us"), "Hello.")
    await anew(home)
    home.answers(says("Good day."))
    home.ann.says(None, "it is me")
    await home.shows(home.discord.direct(home.ann), "Good day.")
