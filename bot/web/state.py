"""What a request is answered from: the running service and the counters of this process."""

from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request

from bot.app import Service
from bot.web.metrics import Metrics


def service_of(request: Request) -> Service:
    """The service that answers."""
    return cast("Service", request.app.state.service)


def metrics_of(request: Request) -> Metrics:
    """The counters of this process."""
    return cast("Metrics", request.app.state.metrics)


Served = Annotated[Service, Depends(service_of)]
