"""A playbook file that is wrong is refused with the file, the place and what to do; conditions hold as written."""

from pathlib import Path

import pytest

from bot.playbook import PlaybookError, load_playbooks
from bot.playbook.condition import all_hold, parse
from bot.playbook.parse import parse as read

HEAD = 'name = "a"\ntitle = "A"\n[match]\nany = ["a"]\n'
SAY = '[[step]]\nsay = "done"\n'
CALL = '[[step]]\ncall = "x.y"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "it is not TOML"),
        ("", "the key 'name' is missing"),
        (HEAD, "the key 'step' is missing"),
        (f'titel = "x"\n{HEAD}{SAY}', "unknown key 'titel'; did you mean 'title'?"),
        (f"{HEAD}anny = []\n{SAY}", "match 1: unknown key 'anny'; did you mean 'any'?"),
        (f"{HEAD}{CALL}arg = {{}}\n{SAY}", "step 1: unknown key 'arg'; did you mean 'args'?"),
        (f'{HEAD}[[step]]\ncalls = [{{ call = "x.y", af = "z" }}]\n{SAY}', "step 1, calls 1: unknown key 'af'"),
        (f'{HEAD}[[step]]\nsay = [{{ text = "a", wen = "a.b == 1" }}]', "step 1, say 1: unknown key 'wen'"),
        (f"{HEAD}{CALL}", "the last step, and only the last, has to be a say without when"),
        (f"{HEAD}{SAY}{SAY}", "the last step, and only the last"),
        (f'{HEAD}[[step]]\nwhen = "labels.a == 1"\nsay = "x"\n', "the last step, and only the last"),
        (f'{HEAD}[[step]]\nsay = [{{ when = "labels.a == 1", text = "x" }}]\n', "one line without when"),
        (f"{HEAD}[[step]]\n{SAY}", "step 1: it needs either call, calls or say"),
        (f'{HEAD}{CALL}say = "x"\n{SAY}', "step 1: it needs either call, calls or say"),
        (f"{HEAD}{CALL}calls = []\n{SAY}", "step 1: it has both call and calls"),
        (f'{HEAD}[[step]]\nbecause = "x"\nsay = "done"\n', "step 1: because belongs to a call"),
        (f'{HEAD}{CALL}because = "1\\n2\\n3\\n4"\n{SAY}', "step 1, because: it may have three lines at most"),
        (f'{HEAD}{CALL}as = "labels"\n{SAY}', "step 1: the name 'labels' is taken"),
        (f'{HEAD}{CALL}as = "r"\n{CALL}as = "r"\n{SAY}', "step 2: the name 'r' is taken"),
        (f'{HEAD}{CALL}as = "R R"\n{SAY}', "step 1, calls 1, as: "),
        (f'{HEAD}[[step]]\nsay = "{{disk.percent}}"\n', "step 1: 'disk' is used, but no earlier step"),
        (f'{HEAD}{CALL}args = {{ p = ["{{disk.x}}"] }}\n{SAY}', "step 1: 'disk' is used"),
        (f'{HEAD}{CALL}as = "r"\nargs = {{ p = "{{r.x}}" }}\n{SAY}', "step 1: 'r' is used"),
        (f'{HEAD}{CALL}when = "disk.percent > 1"\n{SAY}', "step 1: 'disk' is used"),
        (f'{HEAD}{CALL}when = "percent > 1"\n{SAY}', "step 1, when 1: 'percent > 1' is not a condition"),
        (f'{HEAD}{CALL}when = "labels.a == b"\n{SAY}', "has to end in a number, true, false or a text in quotes"),
        (f'{HEAD}{CALL}when = "labels.a = 1"\n{SAY}', "is not a condition"),
        (f'{HEAD}[[step]]\nsay = "{{labels}}"\n', "{labels} is not a value's place"),
        (f'{HEAD}[[step]]\nsay = "{{labels.a()}}"\n', "is not a value's place"),
        (f'{HEAD}[[step]]\nsay = "a {{ b"\n', "have to come in pairs"),
        (f'{HEAD}{CALL}args = {{ p = "}}" }}\n{SAY}', "have to come in pairs"),
        (f"{HEAD}{CALL}args = {{ p = 2027-01-15 }}\n{SAY}", "step 1, calls 1, args, p"),
        (f'name = "a"\ntitle = "A"\n[match]\nlabels = {{ a = "(" }}\n{SAY}', "'(' is not a regular expression"),
        (f'name = "a"\ntitle = "A"\n[match]\n{SAY}', "match 1: it needs labels, any or all"),
        (f'name = "A b"\ntitle = "A"\n[match]\nany = ["a"]\n{SAY}', "name: "),
        (f'name = "none"\ntitle = "A"\n[match]\nany = ["a"]\n{SAY}', "name: "),
        (f"{HEAD}{CALL.replace('x.y', 'rm -rf /')}{SAY}", "step 1, calls 1, call: "),
        (f'meanwhile = "{{disk.x}}"\n{HEAD}{SAY}', "meanwhile may only look at labels and alert"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_its_place(text: str, said: str) -> None:
    with pytest.raises(PlaybookError) as refused:
        read(text.encode(), "mine.toml")
    sentence = str(refused.value)
    assert sentence.startswith("mine.toml: ")
    assert said in sentence
    assert "pydantic" not in sentence


def test_a_file_that_is_no_text_is_refused() -> None:
    with pytest.raises(PlaybookError, match="not UTF-8"):
        read(b"\xff\xfe", "mine.toml")


def write(path: Path, name: str, word: str = "a") -> Path:
    path.write_text(f'name = "{name}"\ntitle = "A"\n[match]\nany = ["{word}"]\n{SAY}')
    return path


def test_the_operators_come_first_and_replace_a_bundled_one_of_the_same_name(tmp_path: Path) -> None:
    write(tmp_path / "2.toml", "zeta")
    write(tmp_path / "1.toml", "disk-filling")
    (tmp_path / "notes.txt").write_text("no playbook")
    loaded = load_playbooks([tmp_path])
    assert [book.name for book in loaded] == ["disk-filling", "zeta", "machine-check", "service-down"]
    assert loaded[0].title == "A"


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    files = [write(tmp_path / "1.toml", "zeta"), write(tmp_path / "2.toml", "zeta")]
    with pytest.raises(PlaybookError, match=r"2\.toml: name 'zeta' is already taken by .*1\.toml"):
        load_playbooks(files)


def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlaybookError, match="there is no such file"):
        load_playbooks([tmp_path / "gone"])


def test_a_playbook_cannot_be_changed_and_an_edit_shows_in_its_digest(tmp_path: Path) -> None:
    one, other = (read(write(tmp_path / "x", "zeta", word).read_bytes(), "x") for word in ("a", "b"))
    assert one.digest != other.digest
    with pytest.raises(ValueError, match="frozen"):
        one.title = "B"


SCOPE = {"r": {"n": 94.5, "i": 3, "s": "active", "t": "7", "yes": True, "l": ["a", 2], "empty": ""}}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("r.n >= 94.5", True),
        ("r.n > 94.5", False),
        ("r.n<95", True),
        ("r.i <= 2", False),
        ("r.i == 3", True),
        ("r.i == 3.0", True),
        ("r.t >= 7", True),
        ("r.t == 7", True),
        ("r.s == 'active'", True),
        ('r.s != "active"', False),
        ("r.s != 'dead'", True),
        ("r.s > 1", False),
        ("r.s == 'ACTIVE'", False),
        ("r.s contains 'ACT'", True),
        ("r.s contains 'x'", False),
        ("r.l contains 'a'", True),
        ("r.l contains 2", True),
        ("r.l contains 3", False),
        ("r.l.1 == 2", True),
        ("r.yes == true", True),
        ("r.yes != false", True),
        ("r.yes == 1", False),
        ("r.empty == ''", True),
        ("r.i contains 3", False),
    ],
)
def test_a_condition_holds_as_it_reads(condition: str, holds: bool) -> None:
    assert parse(condition).holds(SCOPE) is holds


@pytest.mark.parametrize("operator", ["== 1", "!= 1", "> 1", "< 1", ">= 1", "<= 1", "contains 'a'", "!= ''"])
def test_nothing_is_true_of_what_is_not_there(operator: str) -> None:
    assert parse(f"r.gone {operator}").holds(SCOPE) is False
    assert parse(f"gone.x {operator}").holds(SCOPE) is False


def test_all_conditions_have_to_hold() -> None:
    assert all_hold([], SCOPE)
    assert all_hold(["r.i == 3", "r.n > 90"], SCOPE)
    assert not all_hold(["r.i == 3", "r.n > 99"], SCOPE)
