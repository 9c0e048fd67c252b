"""docs/settings.md tells the truth about the settings there are."""

import re
import tomllib
from pathlib import Path

from bot.settings import Settings
from bot.settings.names import dotted, look_up, names

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
ROW = re.compile(r"^\| `([^`]+)` \| (not set|`[^`]+`) \| (.+) \|$", re.MULTILINE)


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(PAGE.read_text("utf-8"))


def test_the_table_has_exactly_the_keys_there_are_in_their_order() -> None:
    assert [key for key, _, _ in rows()] == [dotted(name) for name in names()]


def test_every_line_of_the_table_is_read_by_these_tests() -> None:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert len(lines) == len(rows())


def test_every_default_in_the_table_is_the_default() -> None:
    defaults = Settings()
    for key, default, _ in rows():
        section, _, name = key.partition(".")
        if "NAME" in key:
            assert default == "not set", key
        elif default == "not set":
            assert getattr(getattr(defaults, section), name) is None, key
        else:
            table = tomllib.loads(f"[{section}]\n{name} = {default.strip('`')}")
            written = getattr(getattr(Settings.model_validate(table), section), name)
            assert written == getattr(getattr(defaults, section), name), key


def test_every_key_is_explained_in_one_sentence() -> None:
    for key, _, meaning in rows():
        assert meaning[0].isupper(), key
        assert meaning.endswith("."), key
        assert ". " not in meaning, key


def test_the_example_is_accepted() -> None:
    found = re.search(r"```toml\n(.+?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    settings = Settings.model_validate(tomllib.loads(found[1]))
    assert settings.tools["host.clear_cache"].ttl == 3_600_000
    assert look_up(("tools", "host.clear_cache", "ttl")) is not None
