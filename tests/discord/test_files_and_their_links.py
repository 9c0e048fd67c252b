"""Downloads on Discord: only from its own host, without the token, and nothing but the file is taken for it."""

from __future__ import annotations

from hashlib import sha256

import pytest

from casestore.states import FileState
from channels.discord import files
from channels.errors import FileRefused
from tests.discord.attaching import PICTURE, attempted, copies, later, limited, picture, sent, settled
from tests.discord.household import Household
from tests.wire.discord.cdn import DOWNLOAD
from tests.wire.discord.server import DiscordServer

PAGE = "<html><body>Please sign in to the network.</body></html>"
TWO_DAYS_S = 2 * 24 * 3_600


async def test_a_picture_is_kept_byte_for_byte_from_the_link_that_its_message_carries(home: Household) -> None:
    sent(home, picture(home))
    (file,) = await settled(home, FileState.KEPT)
    assert (file.name, file.media_type, file.size) == ("disk.png", "image/png", len(PICTURE))
    assert file.digest == sha256(PICTURE).hexdigest()
    assert await copies(home) == [PICTURE]
    (looked_up,) = home.discord.calls("get_message")
    assert isinstance(looked_up.answer, dict)
    assert [asked.link for asked in home.discord.cdn.asked] == [looked_up.answer["attachments"][0]["url"]]


async def test_the_token_is_never_shown_where_files_are(home: Household) -> None:
    sent(home, picture(home))
    await settled(home, FileState.KEPT)
    (asked,) = home.discord.cdn.asked
    assert "Authorization" not in asked.headers
    assert home.discord.token not in f"{asked.link} {dict(asked.headers)}"


async def test_a_link_that_ended_while_the_file_waited_is_not_used_again(home: Household) -> None:
    home.discord.fail_next(DOWNLOAD, status=503)
    sent(home, picture(home))
    await attempted(home)
    home.discord.advance(TWO_DAYS_S)
    later(home)
    await settled(home, FileState.KEPT)
    first, second = home.discord.cdn.asked
    assert first.link != second.link


async def test_a_link_that_ends_on_its_way_is_renewed_at_once_by_looking_at_the_message_again(home: Household) -> None:
    held = home.discord.hold(DOWNLOAD)
    sent(home, picture(home))
    await held.arrived()
    home.discord.advance(TWO_DAYS_S)
    held.release()
    (file,) = await settled(home, FileState.KEPT)
    assert (file.attempts, await copies(home)) == (1, [PICTURE])
    assert len(home.discord.calls("get_message")) == 2
    first, second = home.discord.cdn.asked
    assert first.link != second.link


@pytest.mark.parametrize("status", [403, 404, 410])
async def test_a_file_that_is_not_there_by_a_fresh_link_either_is_gone(home: Household, status: int) -> None:
    home.discord.fail_next(DOWNLOAD, status=status, content_type="text/plain", times=None)
    sent(home, picture(home))
    (file,) = await settled(home, FileState.GONE)
    assert file.reason == "it is not there any more"
    assert len(home.discord.cdn.asked) == 2


async def test_a_link_to_another_host_is_never_asked_for(home: Household) -> None:
    async with DiscordServer() as elsewhere:
        file = picture(home)
        file.link = f"{elsewhere.world.url}/attachments/1/2/disk.png"
        sent(home, file)
        (found,) = await settled(home, FileState.REFUSED)
        assert found.reason == "its link leads out of Discord"
        assert elsewhere.cdn.asked == []


@pytest.mark.parametrize(
    "link",
    [
        "http://cdn.discordapp.com/attachments/1/2/a.png",
        "https://cdn.discordapp.com:8443/attachments/1/2/a.png",
        "https://cdn.discordapp.com.example.org/attachments/1/2/a.png",
        "https://example.org/cdn.discordapp.com/a.png",
        "https://kim:secret@cdn.discordapp.com/attachments/1/2/a.png",
        "https://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "/attachments/1/2/a.png",
        "",
    ],
)
def test_what_is_no_link_to_discords_files_is_refused(link: str) -> None:
    with pytest.raises(FileRefused):
        files.address(link)


@pytest.mark.parametrize("host", ["cdn.discordapp.com", "media.discordapp.net"])
def test_a_link_to_discords_files_is_taken_as_it_is(host: str) -> None:
    link = f"https://{host}/attachments/1/2/a%20b.png?ex=6a&is=69&hm=ab12&"
    assert str(files.address(link)) == link


async def test_a_redirect_is_not_followed(home: Household) -> None:
    home.discord.fail_next(DOWNLOAD, status=302)
    sent(home, picture(home))
    assert await attempted(home) == "Discord answers with status 302"
    assert len(home.discord.cdn.asked) == 1


async def test_one_that_is_larger_than_it_claims_is_read_no_further_than_the_limit(home: Household) -> None:
    await limited(home, 1_000)
    file = home.ann.file("big.bin", b"x" * 64 * 1024 * 1024, "application/octet-stream")
    file.claims = 10
    sent(home, file)
    (found,) = await settled(home, FileState.REFUSED)
    assert found.reason == "larger than 1,000 B"
    await home.until(lambda: home.discord.cdn.cut_off, "that somebody goes away before the end")
    assert await copies(home) == []


@pytest.mark.parametrize("how", ["cut", "trouble", "too many"])
async def test_a_download_that_fails_is_tried_again_until_it_is_whole(home: Household, how: str) -> None:
    match how:
        case "cut":
            home.discord.fail_next(DOWNLOAD, cut=True)
        case "trouble":
            home.discord.fail_next(DOWNLOAD, status=503)
        case _:
            home.discord.fail_next(DOWNLOAD, status=429)
    sent(home, picture(home))
    why = await attempted(home)
    assert {"cut": "the connection to Discord broke", "trouble": "status 503", "too many": "status 429"}[how] in why
    later(home)
    await settled(home, FileState.KEPT)
    assert await copies(home) == [PICTURE]


@pytest.mark.parametrize("status", [200, 403, 404])
@pytest.mark.parametrize("longer", [False, True], ids=["as long as the file", "longer"])
async def test_a_page_in_place_of_the_file_is_not_it_and_the_file_is_had_later(
    home: Household, status: int, longer: bool
) -> None:
    home.discord.fail_next(DOWNLOAD, status=status, body=PAGE)
    content = b"x" * (len(PAGE) - 10 * longer)
    sent(home, home.ann.file("a.txt", content))
    await attempted(home)
    later(home)
    await settled(home, FileState.KEPT)
    assert await copies(home) == [content]


async def test_a_page_in_place_of_a_page_is_not_it(home: Household) -> None:
    content = b"<p>All is well.</p>"
    home.discord.fail_next(DOWNLOAD, status=200, body=PAGE)
    sent(home, home.ann.file("report.html", content, "text/html; charset=utf-8"))
    assert "56 bytes came, and it has 19" in await attempted(home)
    later(home)
    await settled(home, FileState.KEPT)
    assert await copies(home) == [content]


@pytest.mark.parametrize("status", [403, 404])
async def test_while_somebody_in_front_answers_for_the_message_the_file_stays_wanted(
    home: Household, status: int
) -> None:
    home.discord.fail_next("get_message", status=status, body=PAGE)
    sent(home, picture(home))
    await attempted(home)
    later(home)
    await settled(home, FileState.KEPT)
