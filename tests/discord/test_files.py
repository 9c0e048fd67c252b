"""What people attach on Discord: our own copy of it, and what is not one."""

from __future__ import annotations

from casestore.states import FileState
from tests.discord.attaching import PICTURE, answered, copies, limited, picture, sent, settled
from tests.discord.household import Household
from tests.loop.scripted import says
from tests.wire.discord.cdn import DOWNLOAD


async def test_the_model_is_told_what_was_attached_by_name_type_and_size(home: Household) -> None:
    sent(home, home.ann.file("trace.log", b"x" * 1_234))
    assert "look\\n(file 1: trace.log, text/plain, 1,234 bytes; a copy is " in await answered(home)


async def test_a_file_alone_is_something_said_and_names_its_case(home: Household) -> None:
    sent(home, home.ann.file("trace.log", b"x"), text="")
    await answered(home)
    assert (await home.only_case()).title == "(file: trace.log, text/plain, 1 byte)"


async def test_ten_files_of_one_message_in_a_room_are_all_kept(home: Household) -> None:
    contents = [b"%d" % number * 100 for number in range(10)]
    home.answers(says("I see."))
    home.ann.mentions(
        home.kitchen, "look", files=[home.ann.file(f"{n}.txt", content) for n, content in enumerate(contents)]
    )
    await settled(home, FileState.KEPT, 10)
    assert await copies(home) == contents


async def test_a_file_over_the_limit_is_named_and_not_asked_for(home: Household) -> None:
    await limited(home, 1_000)
    sent(home, home.ann.file("big.bin", b"x" * 1_001, "application/octet-stream"))
    (file,) = await settled(home, FileState.REFUSED)
    assert (file.name, file.reason) == ("big.bin", "larger than 1,000 B")
    told = await answered(home)
    assert "big.bin, application/octet-stream, 1,001 bytes; not kept: larger than 1,000 B)" in told
    assert home.discord.calls("get_message") == []
    assert home.discord.cdn.asked == []


async def test_a_file_of_exactly_the_limit_is_kept(home: Household) -> None:
    await limited(home, 1_000)
    sent(home, home.ann.file("a.bin", b"x" * 1_000, "application/octet-stream"))
    await settled(home, FileState.KEPT)


async def test_with_a_limit_of_0_nothing_is_asked_for(home: Household) -> None:
    await limited(home, 0)
    sent(home, picture(home))
    (file,) = await settled(home, FileState.REFUSED)
    assert "files.limit is 0" in str(file.reason)
    await answered(home)
    assert home.discord.calls("get_message") == []
    assert home.discord.cdn.asked == []


async def test_a_copy_goes_with_its_message(home: Household) -> None:
    said = sent(home, home.ann.file("secret.txt", b"hunter2"))
    await settled(home, FileState.KEPT)
    home.ann.deletes(said)
    (file,) = await settled(home, FileState.GONE)
    assert (file.name, file.digest, file.reason) == ("", None, "deleted by its author")
    assert await copies(home) == []


async def test_of_a_file_that_is_taken_out_of_its_message_the_copy_goes_and_the_others_stay(home: Household) -> None:
    secret, fine = (home.ann.file(name, name.encode()) for name in ("secret.txt", "fine.txt"))
    said = sent(home, secret, fine)
    await settled(home, FileState.KEPT, 2)
    home.ann.takes_out(secret, said)
    await settled(home, FileState.GONE)
    assert await copies(home) == [b"fine.txt"]


async def test_a_file_whose_message_went_before_it_was_fetched_is_gone(home: Household) -> None:
    held = home.discord.hold("get_message")
    said = sent(home, picture(home))
    await held.arrived()
    said.deleted = True
    held.release()
    (file,) = await settled(home, FileState.GONE)
    assert file.reason == "its message is not there any more"


async def test_a_file_that_was_taken_out_before_it_was_fetched_is_gone(home: Household) -> None:
    held = home.discord.hold("get_message")
    said = sent(home, picture(home))
    await held.arrived()
    said.attachments = []
    held.release()
    (file,) = await settled(home, FileState.GONE)
    assert file.reason == "it was taken from its message"


async def test_a_message_that_is_deleted_while_its_file_is_fetched_leaves_no_copy(home: Household) -> None:
    held = home.discord.hold(DOWNLOAD, answer=True)
    said = sent(home, picture(home))
    await held.arrived()
    home.ann.deletes(said)
    await settled(home, FileState.GONE)
    held.release()
    await home.until(lambda: home.discord.cdn.fetched, "that the file is given out")
    sent(home, home.ann.file("other.txt", b"fine"))
    await settled(home, FileState.KEPT)
    assert await copies(home) == [b"fine"]


async def test_what_was_attached_while_the_service_was_down_is_kept_after_its_start(home: Household) -> None:
    """R29"""
    home.answers(says("Hello."), says("I see."))
    thread = await home.asks()
    await home.shows(thread, "Hello.")
    await home.close()
    home.ann.says(thread, "look", files=[picture(home)])
    await home.open()
    await settled(home, FileState.KEPT)
    assert await copies(home) == [PICTURE]


async def test_what_was_cut_off_by_a_restart_is_fetched_after_it(home: Household) -> None:
    held = home.discord.hold(DOWNLOAD)
    sent(home, picture(home))
    await held.arrived()
    await home.restart()
    held.release()
    await settled(home, FileState.KEPT)
    assert await copies(home) == [PICTURE]
