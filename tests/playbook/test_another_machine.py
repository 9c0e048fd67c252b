"""An alert about another machine leads to nothing on this one: not to a look at the wrong disk, not to a question."""

import socket

import pytest

from bot.playbook import PlaybookModel, load_playbooks
from bot.playbook.elsewhere import elsewhere
from bot.tools.host.names import names, plain
from tests.playbook.talk import OFFERED, Result, Talk, alert, calls, words

HERE = frozenset({"db-1", "10.0.0.5", "fd00::5"})


@pytest.fixture
def talk() -> Talk:
    return Talk(PlaybookModel(load_playbooks(), HERE))


@pytest.mark.parametrize(
    ("name", "about"), [("DiskAlmostFull", {"mountpoint": "/"}), ("ServiceDown", {"service": "nginx"})]
)
async def test_it_is_left_to_an_operator_who_hears_which_machine_it_names(
    talk: Talk, name: str, about: dict[str, str]
) -> None:
    talk.hear(alerts=[alert(annotations=None, alertname=name, instance="web-7:9100", **about)])
    (made,) = calls(await talk.ask())
    assert made[0] == "case.hand_off"
    assert "the alert is about web-7:9100" in str(made[1]["reason"])
    assert "host.names" in str(made[1]["reason"])


@pytest.mark.parametrize(
    ("name", "about"), [("DiskAlmostFull", {"mountpoint": "/"}), ("ServiceDown", {"service": "nginx"})]
)
async def test_where_nothing_can_be_handed_over_it_is_said_and_nothing_is_done(
    name: str, about: dict[str, str]
) -> None:
    talk = Talk(PlaybookModel(load_playbooks(), HERE), [one for one in OFFERED if not one.startswith("case.")])
    talk.hear(alerts=[alert(annotations=None, alertname=name, instance="web-7", **about)])
    response = await talk.ask()
    assert calls(response) == []
    assert words(response).startswith("The alert is about web-7. I look at and change only the machine that I run on")


async def test_once_begun_it_is_about_the_machine_it_was_about(talk: Talk) -> None:
    """What a machine is called may change while a turn waits; the turn keeps what it knew."""
    talk.hear(alerts=[alert(alertname="DiskAlmostFull", mountpoint="/", instance="db-1")])
    await talk.ask()
    talk.model = PlaybookModel(load_playbooks(), frozenset({"db-2"}))
    talk.give(
        Result({"host": "vm", "path": "/", "used_gb": 94.0, "free_gb": 6.0, "percent": 94.0}),
        Result({"dirs": [{"path": "/var", "gb": 40.5}]}),
    )
    assert [name for name, _ in calls(await talk.ask())] == ["host.clear_cache"]


async def test_of_a_group_the_member_that_is_about_this_machine_is_worked(talk: Talk) -> None:
    there, here = (alert(alertname="DiskAlmostFull", mountpoint=at, instance=name)
                   for at, name in (("/there", "web-7"), ("/here", "db-1")))  # fmt: skip
    talk.hear(alerts=[there, here])
    assert calls(await talk.ask())[0] == ("host.disk_usage", {"path": "/here"})


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {"instance": " "},
        {"instance": "db-1"},
        {"instance": "DB-1:9100"},
        {"instance": "db-1."},
        {"instance": "10.0.0.5:9100"},
        {"instance": "[fd00::5]:9100"},
        {"instance": "fd00::5"},
        {"instance": "node-exporter:9100", "node": "db-1"},
        {"hostname": "db-1", "cluster": "eu1"},
    ],
)
def test_no_name_and_any_of_ours_are_this_machine(labels: dict[str, str]) -> None:
    assert elsewhere(labels, HERE) is None


@pytest.mark.parametrize(
    ("labels", "machine"),
    [
        ({"instance": "db-2"}, "db-2"),
        ({"instance": "db-1.example.org"}, "db-1.example.org"),
        ({"instance": "db-10:9100"}, "db-10:9100"),
        ({"instance": "localhost:9100"}, "localhost:9100"),
        ({"instance": "127.0.0.1:9100"}, "127.0.0.1:9100"),
        ({"node": "web-7"}, "web-7"),
        ({"instance": "web-7", "host": "web-8"}, "web-7"),
        ({"instance": "10.0.0.5.evil.example"}, "10.0.0.5.evil.example"),
    ],
)
def test_every_other_name_is_another_machine(labels: dict[str, str], machine: str) -> None:
    assert elsewhere(labels, HERE) == machine


def test_where_no_name_of_ours_is_known_every_machine_is_another() -> None:
    assert elsewhere({"instance": "db-1"}, ()) == "db-1"


def test_this_machine_is_known_by_its_own_name_and_by_what_the_settings_add_but_not_as_localhost() -> None:
    known = names(["Web.Example.org:9100", ""])
    assert {plain(socket.gethostname()), "web.example.org"} <= known
    assert not {"localhost", "127.0.0.1", "::1", ""} & known
