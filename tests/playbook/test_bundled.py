"""The bundled playbooks: what a newcomer sees on the first day, with the real tools of this machine."""

from pathlib import Path

import pytest

from bot.playbook import PlaybookModel, load_playbooks
from bot.playbook.parse import bundled
from bot.tools.declare import Tool
from bot.tools.host import host_tools
from tests.playbook.talk import OFFERED, Result, Talk, alert, calls, really, words

DISK = {"host": "vm", "path": "/", "total_gb": 100.0, "used_gb": 94.0, "free_gb": 6.0, "percent": 94.0}
LARGEST = {"path": "/", "dirs": [{"path": "/var", "gb": 40.5}], "complete": True}
CLEARED = {"removed_files": 12, "freed_bytes": 1_200_000, "freed_mb": 1.2, "complete": True}
FULL = alert(alertname="DiskAlmostFull", mountpoint="/", instance="db-1", severity="critical")
DOWN = alert(alertname="ServiceDown", service="nginx", instance="web-1")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    directory = tmp_path / "cache" / "demo"
    directory.mkdir(parents=True)
    (directory / "file").write_bytes(b"x" * 5_000_000)
    return directory


@pytest.fixture
def tools(cache: Path) -> list[Tool]:
    return host_tools({"casebound-demo": cache}, [cache.parent], now=lambda: 0)


@pytest.fixture
def talk() -> Talk:
    return Talk(PlaybookModel(load_playbooks(), {"db-1", "web-1"}))


async def looked(talk: Talk, *results: Result) -> None:
    """The turn up to its second response."""
    await talk.ask()
    talk.give(*results)


@pytest.mark.parametrize(
    "name", ["DiskAlmostFull", "NodeDiskFull", "diskFillingUp", "HostOutOfDiskSpace", "NodeFilesystemSpaceFillingUp"]
)
async def test_a_disk_alert_looks_first_at_the_disk_that_it_names(talk: Talk, name: str) -> None:
    talk.hear("alertmanager (alert): it is full", alerts=[alert(alertname=name, mountpoint="/srv")])
    assert calls(await talk.ask()) == [
        ("host.disk_usage", {"path": "/srv"}),
        ("host.largest_dirs", {"path": "/srv", "limit": 3}),
    ]


async def test_an_alert_without_a_mountpoint_means_the_root(talk: Talk) -> None:
    talk.hear(alerts=[alert(alertname="DiskAlmostFull")])
    assert calls(await talk.ask())[0] == ("host.disk_usage", {"path": "/"})


async def test_a_full_disk_from_alert_to_resolved_with_the_real_tools(
    talk: Talk, tools: list[Tool], cache: Path
) -> None:
    talk.hear(alerts=[FULL])
    asked: list[str] = []
    response = await talk.ask()
    while made := calls(response):
        asked += [name for name, _ in made]
        host = [name.startswith("host.") for name, _ in made]
        results = [
            await really(tools, name, args) if on_host else Result()
            for (name, args), on_host in zip(made, host, strict=True)
        ]
        assert all(result.outcome == "success" for result in results)
        talk.give(*results)
        response = await talk.ask()
    assert asked == [
        "host.disk_usage",
        "host.largest_dirs",
        "host.clear_cache",
        "host.disk_usage",
        "case.resolve",
    ]
    assert list(cache.iterdir()) == []
    said = words(response)
    assert "Files removed: 1. Space freed: 5 MB." in said
    assert "I have resolved the case" in said


async def test_the_card_says_in_three_lines_why_the_cache_is_to_be_cleared(talk: Talk) -> None:
    talk.hear(alerts=[FULL])
    await looked(talk, Result(DISK), Result(LARGEST))
    response = await talk.ask()
    assert calls(response) == [("host.clear_cache", {"name": "casebound-demo"})]
    assert words(response).splitlines() == [
        "/ on this machine, vm, is 94 % full (94 GB used, 6 GB available); the alert is about db-1.",
        "The largest directory that I saw is /var (40.5 GB).",
        "The files in the cache casebound-demo can go: they are made again when they are needed.",
    ]


@pytest.mark.parametrize("reason", ["denied by Kim: not now", "withdrawn, not run: the alert has resolved"])
async def test_after_a_no_an_operator_has_the_case_with_what_is_known(talk: Talk, reason: str) -> None:
    talk.hear(alerts=[FULL])
    await looked(talk, Result(DISK), Result(LARGEST))
    await looked(talk, Result(reason, "denied"))
    ((tool, args),) = calls(await talk.ask())
    assert tool == "case.hand_off"
    assert args["reason"] == (
        f"the cache was not cleared ({reason}); / on vm is 94 % full, "
        "and the largest directory that I saw is /var (40.5 GB)"
    )


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (
            Result("expired, not run: nobody decided in time, which counts as a denial", "denied"),
            "nobody decided in time whether to clear the cache casebound-demo, and / is 94 % full",
        ),
        (Result("There is no such directory.", "failed"), "There is no such directory. / is still 94 % full"),
    ],
)
async def test_what_nobody_decided_or_what_failed_is_handed_over(talk: Talk, result: Result, reason: str) -> None:
    talk.hear(alerts=[FULL])
    await looked(talk, Result(DISK), Result(LARGEST))
    await looked(talk, result)
    assert calls(await talk.ask()) == [("case.hand_off", {"reason": reason})]


async def test_without_a_cache_to_clear_the_finding_is_handed_over(talk: Talk) -> None:
    talk.offered = [name for name in OFFERED if name != "host.clear_cache"]
    talk.hear(alerts=[FULL])
    await looked(talk, Result(DISK), Result(LARGEST))
    reason = "/ is 94 % full, and I have no cache here that I may clear"
    assert calls(await talk.ask()) == [("case.hand_off", {"reason": reason})]


async def test_a_disk_that_is_still_full_is_not_called_resolved(talk: Talk) -> None:
    talk.hear(alerts=[FULL])
    await looked(talk, Result(DISK), Result(LARGEST))
    await looked(talk, Result(CLEARED))
    await looked(talk, Result(DISK | {"percent": 90.0}))
    reason = "I cleared the cache casebound-demo, but / is still 90 % full"
    assert calls(await talk.ask()) == [("case.hand_off", {"reason": reason})]
    talk.give(Result("no", "failed"))
    assert "That is not enough." in words(await talk.ask())


async def test_an_effect_that_a_person_says_has_happened_is_taken_as_done(talk: Talk) -> None:
    talk.hear(alerts=[FULL])
    await looked(talk, Result(DISK), Result(LARGEST))
    await looked(talk, Result("Kim says that it happened"))
    await looked(talk, Result(DISK | {"percent": 50.0}))
    assert [name for name, _ in calls(await talk.ask())] == ["case.resolve"]
    talk.give(Result())
    assert words(await talk.ask()).startswith("/ is now 50 % full")


async def test_a_disk_that_is_not_on_this_machine_is_handed_over(talk: Talk, tools: list[Tool]) -> None:
    talk.hear(alerts=[alert(alertname="DiskAlmostFull", mountpoint="/no/such/disk", instance="db-1")])
    made = calls(await talk.ask())
    talk.give(*[await really(tools, name, args) for name, args in made])
    reason = (
        'Cannot read the disk at "/no/such/disk": No such file or directory. '
        "I can only look at the machine that I run on; the alert is about db-1"
    )
    assert calls(await talk.ask()) == [("case.hand_off", {"reason": reason})]


@pytest.mark.parametrize(
    "text",
    [
        "Kim (requester): what is wrong with this machine?",
        "Kim (requester): everything is SLOW today",
        "Kim (operator): how much memory is left",
        "the load!",
    ],
)
async def test_a_question_about_the_machine_is_answered_with_numbers(talk: Talk, tools: list[Tool], text: str) -> None:
    talk.hear(text)
    made = calls(await talk.ask())
    assert {name for name, _ in made} == {"host.disk_usage", "host.memory", "host.load", "host.processes"}
    talk.give(*[await really(tools, name, args) for name, args in made])
    said = words(await talk.ask())
    for start in ("- Disk /: ", "- Memory: ", "- Load: ", "- Busiest: ", "- Largest: "):
        assert start in said
    assert "{" not in said


async def test_a_full_disk_is_the_first_thing_that_is_said(talk: Talk) -> None:
    talk.hear("Kim (requester): the machine is slow")
    await looked(talk, Result(DISK), *[Result("It could not be read.", "failed")] * 4)
    said = words(await talk.ask()).splitlines()
    assert said[0] == "The disk is nearly full. That is the first thing to look at."
    assert "I see nothing wrong with this machine right now." not in said
    assert "I could not read the memory. It could not be read." in said
    assert not any(line.startswith("- Memory") for line in said)


@pytest.mark.parametrize("text", ["a machinery of state", "the diskette", "Kim (requester): hello"])
async def test_only_whole_words_count(talk: Talk, text: str) -> None:
    talk.hear(text)
    assert calls(await talk.ask())[0][0] == "case.hand_off"


async def test_a_service_that_is_down_is_restarted_after_an_approval(talk: Talk) -> None:
    talk.hear(alerts=[DOWN])
    assert calls(await talk.ask()) == [
        ("host.service_state", {"name": "nginx"}),
        ("host.log_tail", {"unit": "nginx", "lines": 20}),
    ]
    talk.give(
        Result({"service": "nginx", "state": "failed", "detail": "dead"}),
        Result({"source": "nginx", "lines": ["starting", "out of files"]}),
    )
    response = await talk.ask()
    assert calls(response) == [("host.restart_service", {"name": "nginx"})]
    assert "The last line of its log: out of files" in words(response)
    assert len(words(response).splitlines()) == 3
    talk.give(Result({"service": "nginx", "state": "active", "detail": "running"}))
    assert calls(await talk.ask()) == [("host.service_state", {"name": "nginx"})]
    talk.give(Result({"service": "nginx", "state": "active", "detail": "running"}))
    assert [name for name, _ in calls(await talk.ask())] == ["case.resolve"]
    talk.give(Result())
    assert "It was failed and is active again (running)." in words(await talk.ask())


async def test_a_job_label_names_the_service_when_there_is_no_other(talk: Talk) -> None:
    talk.hear(alerts=[alert(alertname="InstanceDown", job="postgresql")])
    assert calls(await talk.ask())[0] == ("host.service_state", {"name": "postgresql"})


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (
            Result({"service": "nginx", "state": "active", "detail": "running"}),
            "ServiceDown says that nginx is down, but on this machine it is active (running)",
        ),
        (
            Result({"service": "nginx", "state": "unknown", "detail": "There is no service manager here."}),
            "I cannot see the service nginx from here. There is no service manager here. The alert is about web-1",
        ),
        (
            Result("It could not be read.", "failed"),
            "It could not be read. So I know nothing about the service that ServiceDown is about",
        ),
    ],
)
@pytest.mark.parametrize("handed", [True, False])
async def test_a_service_that_is_not_seen_to_be_down_is_never_restarted(
    talk: Talk, state: Result, reason: str, handed: bool
) -> None:
    talk.hear(alerts=[DOWN])
    await looked(talk, state, Result("There is no journal.", "failed"))
    assert calls(await talk.ask()) == [("case.hand_off", {"reason": reason})]
    talk.give(Result() if handed else Result("no", "failed"))
    response = await talk.ask()
    assert calls(response) == []
    assert "operator" in words(response)


FAILED = Result({"service": "nginx", "state": "failed", "detail": "dead"})


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ([FAILED, FAILED], "I restarted nginx, but now it is failed (dead)"),
        ([FAILED, Result("x", "failed")], "I restarted nginx, but now it is in an unknown state (not seen)"),
        (
            [Result("expired, not run: nobody decided in time", "denied")],
            "nobody decided in time whether to restart nginx, and it is failed",
        ),
        ([Result("It was not restarted.", "failed")], "It was not restarted. It is failed"),
    ],
)
async def test_a_service_that_is_not_back_is_handed_over(talk: Talk, results: list[Result], reason: str) -> None:
    talk.hear(alerts=[DOWN])
    await looked(talk, FAILED, Result({"lines": []}))
    for result in results:
        await looked(talk, result)
    assert calls(await talk.ask()) == [("case.hand_off", {"reason": reason})]


async def test_after_a_denied_restart_an_operator_has_the_case(talk: Talk) -> None:
    talk.hear(alerts=[DOWN])
    await looked(talk, FAILED, Result({"lines": ["out of files"]}))
    await looked(talk, Result("denied by Kim: not now", "denied"))
    ((tool, args),) = calls(await talk.ask())
    assert tool == "case.hand_off"
    assert args["reason"] == "nginx was not restarted (denied by Kim: not now), and it is failed"


def test_every_bundled_playbook_calls_tools_that_exist_with_arguments_that_they_take(tools: list[Tool]) -> None:
    by_name = {tool.name: tool for tool in tools}
    for book in bundled():
        for step in book.steps:
            for one in step.calls:
                assert one.call in OFFERED
                if one.call in by_name:
                    assert set(one.args) <= set(by_name[one.call].definition().parameters_json_schema["properties"])


def test_every_bundled_tool_that_changes_something_says_why() -> None:
    for book in bundled():
        for step in book.steps:
            if any(one.call in ("host.clear_cache", "host.restart_service") for one in step.calls):
                assert step.because
