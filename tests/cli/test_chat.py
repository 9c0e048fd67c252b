"""`casebound chat`: a conversation in the terminal, alone on a file and beside a running service."""

import contextlib
import os
import pty
import resource
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from casestore.locks import service_holder
from tests.cli.command_line import Ended, call, environment
from tests.cli.services import Up, eventually, json_of
from tests.started import PIPE, Started

pytestmark = pytest.mark.timeout(240)

QUESTION = "what is wrong with this machine?"
ANSWER = "What I found on the machine that I run on:"


class Chat:
    """A chat whose input the test holds."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = Started(["chat", *arguments], folder, environment(), stdin=PIPE, stdout=PIPE, stderr=PIPE)

    def say(self, line: str) -> None:
        """Type a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def read_until(self, *words: str) -> str:
        """Read what is shown, up to the line that has any of these words."""
        assert self.process.stdout is not None
        shown = ""
        for line in self.process.stdout:
            shown += line
            if any(word in line for word in words):
                return shown
        raise AssertionError(f"{words!r} was never shown: {shown}")

    def end(self) -> Ended:
        """End the input; all that was shown since."""
        out, err = self.process.communicate(timeout=90)
        return Ended(self.process.wait(), out, err)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Up]:
    """A service on the test's file."""
    up = Up(tmp_path)
    yield up
    up.kill()


@pytest.fixture
def talking(tmp_path: Path) -> Iterator[Chat]:
    """A chat with an engine of its own."""
    chat = Chat(tmp_path)
    yield chat
    if chat.process.poll() is None:
        chat.process.kill()
        chat.process.communicate()


def test_a_question_that_is_piped_in_is_answered_before_the_command_ends(tmp_path: Path) -> None:
    """With no service and no file: it makes the file, works the case itself, and leaves."""
    ended = call(tmp_path, "chat", stdin=QUESTION + "\n")
    assert (ended.code, ended.err) == (0, "")
    assert ANSWER in ended.out
    case = json_of(tmp_path, "case", "show", "C-1001")
    assert [message["provenance"] for message in case["messages"]] == ["requester", "assistant"]
    assert case["origin"] == "console"
    assert service_holder(tmp_path / "casebound.db") is None
    again = call(tmp_path, "chat", stdin="what is wrong with the disk?")
    assert ANSWER in again.out
    assert len(json_of(tmp_path, "case", "list")["cases"]) == 1, "the conversation goes on where it was"


def test_a_conversation_goes_on_while_the_disk_is_full(talking: Chat, tmp_path: Path) -> None:
    """R15: nothing about it is shown to who writes, and once there is room again it is stored."""
    talking.say(QUESTION)
    talking.read_until(ANSWER)
    unlimited = resource.prlimit(talking.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(talking.process.pid, resource.RLIMIT_FSIZE, (0, unlimited[1]))
    talking.say(QUESTION)
    assert "not stored" not in talking.read_until(ANSWER, "not stored")
    assert [by for by, _ in said_in(tmp_path)] == ["requester", "assistant"], "the disk is full"
    resource.prlimit(talking.process.pid, resource.RLIMIT_FSIZE, unlimited)
    eventually(lambda: said_in(tmp_path), lambda said: len(said) == 4)
    ended = talking.end()
    assert (ended.code, ended.err.count("standby.begun"), "not stored" in ended.out) == (0, 1, False)
    assert said_in(tmp_path)[2][1] == QUESTION


def said_in(folder: Path) -> list[tuple[str, str]]:
    """Who said what in the first case, as stored."""
    case = json_of(folder, "case", "show", "C-1001")
    return [(message["provenance"], message["body"][0]["text"]) for message in case["messages"]]


def test_another_conversation_is_another_case_and_quit_ends(tmp_path: Path) -> None:
    ended = call(tmp_path, "chat", stdin=f"{QUESTION}\n/new\n{QUESTION}\n/cases\n/quit\nnever said\n")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count(ANSWER) == 2
    assert "What you write now goes into another case." in ended.out
    cases = json_of(tmp_path, "case", "list")["cases"]
    assert sorted(case["label"] for case in cases) == ["C-1001", "C-1002"]
    texts = [json_of(tmp_path, "case", "show", case["label"])["messages"] for case in cases]
    assert "never said" not in str(texts)
    third = call(tmp_path, "chat", "--new", stdin=QUESTION)
    assert ANSWER in third.out
    assert len(json_of(tmp_path, "case", "list")["cases"]) == 3


def test_beside_a_service_it_stores_and_shows_and_the_service_answers(service: Up, tmp_path: Path) -> None:
    ended = call(tmp_path, "chat", stdin=QUESTION + "\n")
    assert (ended.code, ended.err) == (0, "")
    assert ANSWER in ended.out
    assert service.process.poll() is None
    assert "casebound up" in (service_holder(tmp_path / "casebound.db") or "")


def test_a_card_says_what_to_type_and_becomes_its_outcome(service: Up, tmp_path: Path) -> None:
    """R28: the alert's case is bound to the conversation; the decision is made in another process."""
    chat = Chat(tmp_path)
    chat.say(QUESTION)
    chat.read_until(ANSWER)
    line = next(line for line in service.said.splitlines() if line.startswith("curl "))
    subprocess.run(["sh", "-c", line], capture_output=True, timeout=30, check=True)
    eventually(lambda: json_of(tmp_path, "case", "list")["cases"], lambda cases: len(cases) == 2)
    call(tmp_path, "case", "unbind", "C-1001", "console:local/you/main")
    assert call(tmp_path, "case", "bind", "C-1002", "console:local/you/main").code == 0
    eventually(lambda: json_of(tmp_path, "gate", "list")["gates"], lambda gates: bool(gates))
    shown = chat.read_until("gate revise 1")
    assert "Approve?  Clear the cache" in shown
    assert "-m bot gate approve 1" in shown
    assert "[ Approve ]" not in shown
    assert call(tmp_path, "gate", "approve", "1").code == 0
    assert "Approved by operator via the command line" in chat.read_until("Approved by operator")
    assert "C-1002" not in chat.read_until("I cleared the cache")
    assert chat.end().code == 0


def test_what_is_due_to_somebody_else_waits_for_them(tmp_path: Path) -> None:
    """R3, R27: a terminal shows what is said to its own person, and takes nothing away from another's."""
    call(tmp_path, "chat", stdin="")
    call(tmp_path, "principal", "add", "kim", "--role", "operator")
    assert "to an operator" in call(tmp_path, "chat", "--as", "kim", stdin="hello there").out
    assert call(tmp_path, "case", "resolve", "C-1001").code == 0
    yours = call(tmp_path, "chat", stdin=QUESTION)
    assert (ANSWER in yours.out, "C-1001 was resolved" in yours.out) == (True, False)
    kims = json_of(tmp_path, "case", "show", "C-1001")
    assert [(bound["address"], bound["state"]) for bound in kims["bindings"]] == [("console:local/kim/main", "live")]
    assert "C-1001 was resolved." in call(tmp_path, "chat", "--as", "kim", stdin="").out


def test_nobody_speaks_who_is_unknown_or_revoked(tmp_path: Path) -> None:
    call(tmp_path, "chat", stdin="")
    assert "No principal named joe" in call(tmp_path, "chat", "--as", "joe", stdin="hi").line
    call(tmp_path, "principal", "revoke", "you")
    assert call(tmp_path, "chat", stdin="hi").line.startswith("you has been revoked.")
    call(tmp_path, "principal", "add", "eve", "--role", "requester")
    call(tmp_path, "principal", "bind", "eve", "console:local/operator")
    assert "speaks for eve" in call(tmp_path, "chat", "--as", "operator", stdin="hi").line
    assert json_of(tmp_path, "case", "list")["cases"] == []


def test_a_reader_who_leaves_does_not_end_the_conversation_for_good(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    assert chat.process.stdout is not None
    chat.process.stdout.close()
    chat.process.stdout = None
    chat.say(QUESTION)
    assert (chat.end().code, chat.process.returncode) == (0, 0)
    case = json_of(tmp_path, "case", "show", "C-1001")
    assert [binding["state"] for binding in case["bindings"]] == ["live"], "a terminal was closed, no thread was lost"
    assert ANSWER in call(tmp_path, "chat", stdin="").out, "what was not shown is shown the next time"


def test_somebody_at_a_terminal_is_greeted_and_leaves_without_waiting(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    chat = Started(["chat"], tmp_path, environment(), stdin=slave, stdout=PIPE, stderr=PIPE)
    os.close(slave)
    assert chat.stdout is not None
    assert chat.stdout.readline().startswith("You are you.")
    os.write(master, b"/cases\n")
    while "There are no cases." not in chat.stdout.readline():
        continue
    os.write(master, b"\x04")
    out, err = chat.communicate(timeout=60)
    os.close(master)
    assert (chat.returncode, out, err) == (0, "", "")


def test_in_a_terminal_nothing_is_broken_within_a_word(tmp_path: Path) -> None:
    """A terminal itself breaks where its edge is; what is read at night goes on with a word."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    chat = Started(["chat", "--db", "a.db"], tmp_path, environment(), stdin=slave, stdout=slave, stderr=PIPE)
    os.close(slave)
    os.write(master, b"hello there\n")
    shown = b""
    while b"restart it (when" not in b" ".join(shown.split()):
        shown += os.read(master, 65_536)
    os.write(master, b"/quit\n")
    while chat.poll() is None:
        with contextlib.suppress(OSError):
            os.read(master, 65_536)
    os.close(master)
    assert chat.stderr is not None
    assert (chat.returncode, chat.stderr.read()) == (0, "")
    chat.stderr.close()
    said = shown.decode().split("I am handing")[1].splitlines()
    assert len(said) > 3
    assert max(len(line) for line in said[1:]) <= 80
