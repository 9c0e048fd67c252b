# APScheduler 3 ships no types. This is the part of it that bot/schedule.py uses, no more.
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import Any

class AsyncIOScheduler:
    running: bool
    def __init__(self, *, timezone: tzinfo | str = ..., job_defaults: Mapping[str, Any] = ...) -> None: ...
    def add_job(
        self,
        func: Callable[..., object],
        trigger: str | None = ...,
        *,
        args: tuple[Any, ...] = ...,
        kwargs: Mapping[str, Any] = ...,
        id: str = ...,
        name: str = ...,
        next_run_time: datetime | None = ...,
        seconds: float = ...,
        minutes: float = ...,
        hours: float = ...,
        jitter: int | None = ...,
    ) -> object: ...
    def remove_job(self, job_id: str) -> None: ...
    def start(self, paused: bool = ...) -> None: ...
    def shutdown(self, wait: bool = ...) -> None: ...
