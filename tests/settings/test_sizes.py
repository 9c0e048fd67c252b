"""Sizes are written with units."""

import pytest

from bot.settings import Settings, load
from bot.words.sizes import LARGEST, size, size_text


@pytest.mark.parametrize(
    ("text", "bytes"),
    [("10MiB", 10_485_760), ("10 MiB", 10_485_760), ("512KiB", 524_288), ("1B", 1), ("0", 0), (0, 0), ("0MiB", 0)],
)
def test_a_size_is_read(text: object, bytes: int) -> None:
    assert size(text) == bytes


@pytest.mark.parametrize(
    "value", ["", "10", 10, True, False, 0.0, None, "10MB", "10mib", "1.5MiB", "-1MiB", "MiB", "1KiB\n"]
)
def test_anything_else_is_refused_with_an_example(value: object) -> None:
    with pytest.raises(ValueError, match='is not a size; write it like "10MiB"'):
        size(value)


def test_more_than_the_store_takes_in_one_go_is_refused() -> None:
    assert size("512MiB") == LARGEST
    with pytest.raises(ValueError, match="is larger than 512 MiB"):
        size("513MiB")


@pytest.mark.parametrize(
    ("number", "text"),
    [(10_485_760, "10 MiB"), (1_572_864, "1,536 KiB"), (1_001, "1,001 B"), (1 << 30, "1 GiB"), (0, "0 B")],
)
def test_a_size_is_told_in_the_largest_unit_that_is_whole(number: int, text: str) -> None:
    assert size_text(number) == text


def test_the_limit_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEBOUND_FILES__LIMIT", "0")
    assert load(None).files.limit == 0
    assert Settings().files.limit == 10_485_760
