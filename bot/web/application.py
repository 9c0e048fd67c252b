"""The application: health, metrics, alerts and the API of one running service."""

from fastapi import FastAPI

from bot.app import Service
from bot.web import alerts, answers, api, health, webhooks
from bot.web.door import Door
from bot.web.metrics import Metrics


def application(service: Service) -> FastAPI:
    """What answers for a service. No page that loads anything from elsewhere: the API is described as OpenAPI only."""
    app = FastAPI(
        title="Casebound",
        summary="Cases, gates, runs and the trail.",
        version="1",
        openapi_url=answers.OPENAPI,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    app.state.service = service
    app.state.metrics = Metrics()
    answers.install(app)
    app.add_middleware(Door, metrics=app.state.metrics)
    app.include_router(health.router)
    app.include_router(alerts.router)
    app.include_router(api.router())
    app.include_router(webhooks.router(service.channels.values()))
    return app
