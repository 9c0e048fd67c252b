"""What Alertmanager sends is read whole and bounded; what it never sends is refused in one sentence."""

import json
from datetime import UTC, datetime

import pytest

from bot.alerts import alertmanager
from bot.alerts.alertmanager import BadAlert
from tests.alerts.notifications import LATER, ZERO, alert, body, group, notification, sent
from tests.conftest import NOW


def ms(*at: int) -> int:
    """A time of 30 November 2026."""
    return int(datetime(2026, 11, 30, *at, tzinfo=UTC).timestamp() * 1000)


def test_a_notification_that_was_really_sent() -> None:
    found = alertmanager.read(sent("one-of-two-resolved"), NOW)
    assert found.key == 'alertmanager:bot:{}:{alertname="DiskAlmostFull", cluster="eu1"}'
    assert (found.receiver, found.priority, found.truncated) == ("bot", "critical", 0)
    assert found.title == "/var/lib on db-1 is 94% full"
    assert found.subject == (
        'alertname="DiskAlmostFull", cluster="eu1", mountpoint="/var/lib", severity="critical"'
    )  # fmt: skip
    one, two = found.members
    assert one.identity == ("0435ec4597511fbb", ms(11, 55, 19))
    assert one.ends_at is None
    assert one.annotations["description"] == "Only 6% left."
    assert two.identity == ("9744909312e8ac12", ms(11, 55, 19))
    assert two.ends_at == ms(11, 55, 22)


def test_a_member_counts_by_its_own_status_whatever_the_groups_is() -> None:
    found = group(alert("a"), alert("b"), alert("c", resolved=True))
    assert [member.fingerprint for member in found.firing] == ["a", "b"]
    assert [member.fingerprint for member in found.resolved] == ["c"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30T11:55:19Z", ms(11, 55, 19)),
        ("2026-11-30T11:55:19.5Z", ms(11, 55, 19) + 500),
        (LATER, ms(12, 40) + 123),
        ("2026-11-30T12:55:19+01:00", ms(11, 55, 19)),
        ("2026-11-30T07:25:19.000001-04:30", ms(11, 55, 19)),
        ("1970-01-01T00:00:00Z", 0),
    ],
)
def test_times_are_milliseconds_utc(text: str, expected: int) -> None:
    assert group(alert("a", starts=text)).members[0].starts_at == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "2026-11-30", "2026-11-30T11:55:19", "2026-11-30 11:55:19Z", "20261130T115519Z",
        "2026-02-30T00:00:00Z", "2026-11-30T25:00:00Z", "2026-11-30T11:55:19+99:00", "1790000000", ZERO,
        "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00", "٢٠٢٦-11-30T11:55:19Z",
    ],
)  # fmt: skip
def test_a_start_that_is_no_time_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadAlert, match=r"alerts\[1\]\.startsAt"):
        group(alert("a"), alert("b", starts=text))


@pytest.mark.parametrize("ends", [ZERO, "2099-01-01T00:00:00Z"])
def test_what_fires_has_no_end_whatever_else_it_says(ends: str) -> None:
    assert group(alert("a", ends=ends)).members[0].ends_at is None


def test_what_resolved_without_saying_when_ended_now() -> None:
    assert group(alert("a", resolved=True, ends=ZERO)).members[0].ends_at == NOW
    without = alert("a", resolved=True)
    del without["endsAt"]
    assert group(without).members[0].ends_at == NOW


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        (["critical"], "critical"), (["warning"], "high"), (["high"], "high"), (["info"], "low"), (["low"], "low"),
        (["page"], "normal"), ([None], "normal"), (["Critical"], "critical"), (["info", "warning"], "high"),
        (["low", None], "normal"),
    ],
)  # fmt: skip
def test_the_most_urgent_member_that_fires_decides_the_priority(severities: list[str | None], expected: str) -> None:
    members = [
        alert(str(n), labels={} if severity is None else {"severity": severity})
        for n, severity in enumerate(severities)
    ]
    over = alert("over", resolved=True, labels={"severity": "critical"})
    assert group(*members, over).priority == expected


@pytest.mark.parametrize(
    ("annotations", "common", "expected"),
    [
        ({"summary": "disk full"}, {}, "disk full (and 1 more)"),
        ({"summary": "disk full"}, {"summary": "two disks  are\nfull"}, "two disks are full"),
        ({}, {}, "DiskAlmostFull: eu1"),
        ({"summary": "  \n "}, {}, "DiskAlmostFull: eu1"),
        ({"summary": "x" * 500}, {}, "x" * 186 + "… (and 1 more)"),
    ],
)
def test_a_title_says_what_is_the_matter(annotations: dict[str, object], common: dict[str, str], expected: str) -> None:
    found = group(
        alert("a", annotations=annotations), alert("b", annotations=annotations),
        groupLabels={"alertname": "DiskAlmostFull", "cluster": "eu1"}, commonAnnotations=common,
    )  # fmt: skip
    assert found.title == expected


def test_fields_that_nobody_knows_are_no_reason_to_lose_an_alert() -> None:
    member = {**alert("a"), "silenceURL": "http://x", "values": {"B": 1}}
    assert group(member, orgId=1, title="[FIRING:1]").members[0].fingerprint == "a"


def test_what_old_programs_leave_out_is_not_missed() -> None:
    for name in ("truncatedAlerts", "groupLabels", "commonLabels", "commonAnnotations", "externalURL"):
        payload = notification(alert("a"))
        del payload[name]
        assert alertmanager.read(json.dumps(payload).encode(), NOW).members


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"alerts": ' + b"9" * 5_000 + b"}", "not JSON"),
        (b"[]", "has to be a JSON object"),
        (b"null", "has to be a JSON object"),
        (b"{}", "version is missing"),
        (body(), "alerts is empty"),
        (body(alert("a"), version="3"), "version should be '4'"),
        (body(alert("a"), groupKey=""), "groupKey is empty"),
        (body(alert("a"), groupKey=None), "groupKey should be a valid string"),
        (body(alert("a"), receiver=7), "receiver should be a valid string"),
        (body(alert("a"), status="pending"), "status should be 'firing' or 'resolved'"),
        (body(alert("a"), truncatedAlerts=-1), "truncatedAlerts should be greater"),
        (body({**alert("a"), "status": "on"}), r"alerts\[0\].status should be"),
        (body(alert("a"), {**alert("b"), "labels": None}), r"alerts\[1\].labels should be a valid dictionary"),
        (body({**alert("a"), "labels": {"x": ["y"]}}), r"alerts\[0\].labels.x should be a valid string"),
        (body({**alert("a"), "fingerprint": ""}), r"alerts\[0\].fingerprint is empty"),
        (body({**alert("a"), "fingerprint": "f" * 201}), r"alerts\[0\].fingerprint is too long"),
        (body({**alert("a"), "startsAt": 5}), r"alerts\[0\].startsAt should be a valid string"),
        (body(alert("a"), alerts={"0": 1}), "alerts should be a valid list"),
    ],
)
def test_what_is_no_notification_is_refused_in_one_sentence(payload: bytes, said: str) -> None:
    with pytest.raises(BadAlert, match=said) as refused:
        alertmanager.read(payload, NOW)
    text = str(refused.value)
    assert text.endswith("Send what Alertmanager's webhook sends, version 4.")
    assert len(text) < 250
    assert "\n" not in text


def test_a_refusal_repeats_no_value() -> None:
    with pytest.raises(BadAlert) as refused:
        group({**alert("a"), "labels": {"password": ["hunter2"]}})
    assert "hunter2" not in str(refused.value)


def test_text_that_cannot_be_stored_is_written_so_that_it_can() -> None:
    payload = notification(alert("a", labels={"odd": "x\ud800y\x00", "rlo": "\u202e", "\udfff": "name"}))
    labels = alertmanager.read(json.dumps(payload).encode(), NOW).members[0].labels
    assert labels["odd"] == "x⟨U+D800⟩y⟨U+0000⟩"
    assert labels["rlo"] == "\u202e"
    assert labels["⟨U+DFFF⟩"] == "name"


def test_a_long_value_is_cut_where_a_mark_says_so() -> None:
    member = group(
        alert("a", labels={"fits": "x" * 1_000, "long": "y" * 65_536}, annotations={"summary": "z" * 1_001})
    ).members[0]  # fmt: skip
    assert member.labels["fits"] == "x" * 1_000
    assert member.labels["long"] == "y" * 1_000 + "… [cut: 65,536 characters]"
    assert member.annotations["summary"] == "z" * 1_000 + "… [cut: 1,001 characters]"


def test_many_labels_are_left_out_where_a_mark_says_so() -> None:
    labels = group(alert("a", labels={f"l{n:03}": "x" for n in range(100)})).members[0].labels
    assert len(labels) == 65
    assert labels["…"] == "38 more were left out"


def test_two_long_group_keys_with_one_beginning_are_two_groups() -> None:
    one, two = (group(alert("a"), key="k" * 70_000 + end).key for end in ("1", "2"))
    assert one != two
    assert len(one) < 2_000


def test_receivers_and_groups_are_told_apart() -> None:
    keys = {group(alert("a"), key=key, receiver=receiver).key for key in ("x", "X") for receiver in ("bot", "Bot")}
    assert len(keys) == 4


def test_the_same_member_twice_in_one_notification_is_one_member() -> None:
    assert len(group(alert("a"), alert("a"), alert("a", starts=LATER)).members) == 2
