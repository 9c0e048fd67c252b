"""Cutting prepared text in pieces.

A cut is looked for from the end of what fits: after a blank line, else after a line, else after a space, all
of them in the second half of the piece; else between characters that do not make one sign. A code fence that
fits a piece is kept whole; one that does not is closed at the cut and opened again, as it was, in the next
piece. A cut never makes a fence of what was none, nor undoes one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from channels import signs
from channels.fences import Fence, after_line, is_fence
from channels.style import Style

_CLUSTER = signs.LONGEST  # how far to go back for the start of a character built from many


@dataclass(frozen=True, slots=True)
class Cut:
    """One piece: `body` is the text's own; `opened` and `closed` are what a fence across the cut needed."""

    opened: str
    body: str
    closed: str

    @property
    def piece(self) -> str:
        """What is sent."""
        return self.opened + self.body + self.closed


def cut(style: Style, text: str) -> Iterator[Cut]:
    """`text` in pieces that measure `style.limit` at most; their bodies add up to `text` exactly."""
    at = 0
    fence: Fence | None = None
    while at < len(text):
        # Nothing beyond twice the limit can matter to where this piece ends.
        window = _Window(style, text[at : at + 2 * style.limit + 1], fence)
        end = window.end()
        yield Cut(window.opened, window.text[:end], window.closed(end))
        fence = window.fence_at(end)
        at += end


class _Window:
    """The text from one cut on, with what is open at the start of each of its lines."""

    def __init__(self, style: Style, text: str, fence: Fence | None) -> None:
        self.style = style
        self.text = text
        self.opened = f"{fence.opening}\n" if fence else ""
        # A fence line is repeated on every piece: a quarter, at two units a character, leaves room for text.
        self.widest = style.limit // 4
        self.starts: list[int] = [0]
        self.fences: list[Fence | None] = [fence]
        for line in text.split("\n"):
            self.starts.append(min(self.starts[-1] + len(line) + 1, len(text)))
            self.fences.append(after_line(self.fences[-1], line, self.widest))

    def end(self) -> int:
        """Where this piece ends."""
        if self._fits(len(self.text)):
            return len(self.text)
        reach = self._reach()
        before_fence = self._before_whole_fence(reach)
        if before_fence is not None:
            return before_fence
        far = self.widest + _CLUSTER  # so far back no end of a line looks like a fence
        for acceptable, back in ((self._tidy, _CLUSTER), (self._clean, _CLUSTER), (self._fair, far)):
            for end in self._candidates(reach, back):
                if acceptable(end):
                    return end
        return reach

    def fence_at(self, end: int) -> Fence | None:
        """The fence that is open at `end`; inside a line, the one that is open where the line starts."""
        return self.fences[self._line(end)]

    def closed(self, end: int) -> str:
        """What closes the fence that is open at `end`."""
        fence = self.fence_at(end)
        if fence is None:
            return ""
        return fence.closing if self.text[:end].endswith("\n") else f"\n{fence.closing}"

    def _line(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def _fits(self, end: int) -> bool:
        return self.style.measure(self.opened + self.text[:end] + self.closed(end)) <= self.style.limit

    def _reach(self) -> int:
        """The farthest end that fits."""
        low, high = 1, min(len(self.text), self.style.limit)
        room = self.style.limit - self.style.measure(self.opened)
        while low < high:
            middle = (low + high + 1) // 2
            if self.style.measure(self.text[:middle]) <= room:
                low = middle
            else:
                high = middle - 1
        while low > 1 and not self._fits(low):
            low -= 1
        return low

    def _before_whole_fence(self, reach: int) -> int | None:
        """The start of the fence that `reach` would cut, if it can be kept whole or has hardly begun."""
        first = self._line(reach)
        while first > 0 and self.fences[first] is not None:
            first -= 1
        start = self.starts[first]
        if start == 0 or self.fence_at(reach) is None:
            return None
        last = next((i for i in range(first + 1, len(self.fences)) if self.fences[i] is None), -1)
        whole = self.text[start : self.starts[last]] + (self.closed(len(self.text)) if last == -1 else "")
        if self.style.measure(whole) <= self.style.limit or start > reach // 2:
            return start
        return None

    def _candidates(self, reach: int, back: int) -> Iterator[int]:
        for separator in ("\n\n", "\n", " "):
            found = self.text.rfind(separator, 0, reach)
            while found + len(separator) > max(reach // 2, 1):
                yield found + len(separator)
                found = self.text.rfind(separator, 0, found + len(separator) - 1)
        lowest = max(1, reach - back)
        yield from (end for end in range(reach, lowest - 1, -1) if not self._together(end))
        yield from (start for start in reversed(self.starts) if 0 < start < reach)
        yield from range(reach, lowest - 1, -1)

    def _tidy(self, end: int) -> bool:
        """Clean, and the next piece does not open a fence only to close it."""
        if not self._clean(end):
            return False
        fence, line = self.fence_at(end), self._line(end)
        return fence is None or self.starts[line] != end or self.fences[line + 1] is not None

    def _clean(self, end: int) -> bool:
        """Whether every fence stays one, and nothing else becomes one, when the text is cut at `end`."""
        return self._keeps_fences(end, len(self.text))

    def _fair(self, end: int) -> bool:
        """The same but for lines too long to be taken for fences."""
        return self._keeps_fences(end, self.widest)

    def _keeps_fences(self, end: int, widest: int) -> bool:
        if not self._fits(end):
            return False
        line = self._line(end)
        start, stop = self.starts[line], self.starts[line + 1]
        if start == end:
            return True
        whole = self.text[start:stop].rstrip("\n")
        parts = (whole, self.text[start:end], self.text[end:stop].rstrip("\n"))
        return not any(is_fence(part, widest) for part in parts)

    def _together(self, end: int) -> bool:
        """Whether the characters around `end` make one sign."""
        before, after = self.text[end - 1], self.text[end]
        if signs.within(self.text, end) or (before == after and before in "`~"):
            return True
        if self.style.whole is None:
            return False
        around = self.style.whole.finditer(self.text, max(0, end - _CLUSTER), end + _CLUSTER)
        return any(found.start() < end < found.end() for found in around)
