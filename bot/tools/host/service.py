"""The services of this machine: what state one is in, and restarting it."""

from typing import Annotated

from pydantic import Field

from bot.tools.declare import Tool, ToolFailed, declare
from bot.tools.host.command import run, service_manager
from bot.tools.host.read import quoted, this_host
from casestore.states import Tier

PATTERN = r"^[A-Za-z0-9][A-Za-z0-9:_.@-]{0,120}$"
NO_MANAGER = "There is no service manager here."
RESTART_SECONDS = 100.0

Name = Annotated[str, Field(pattern=PATTERN, description="The name of a service, such as nginx.")]


def unit(name: str) -> str:
    """The unit of a service. Always a `.service`: no name reaches a target, so none turns the machine off."""
    return name if name.endswith(".service") else f"{name}.service"


async def service_state(name: Name) -> dict[str, object]:
    """Whether a service is active, inactive, failed or unknown here."""
    manager = service_manager()
    if manager is None:
        return {"service": name, "state": "unknown", "detail": NO_MANAGER}
    asked = "--property=LoadState,ActiveState,SubState"
    done = await run(manager, "show", "--no-pager", asked, "--", unit(name), seconds=20)
    if done.code != 0:
        raise ToolFailed(f"The state of the service {quoted(name)} could not be read: {_first(done.err)}")
    found = dict(line.split("=", 1) for line in done.out.splitlines() if "=" in line)
    if found.get("LoadState") == "not-found":
        return {"service": name, "state": "unknown", "detail": "There is no service of this name here."}
    return {
        "service": name,
        "state": found.get("ActiveState", "unknown"),
        "detail": found.get("SubState", ""),
    }


async def restart_service(name: Name) -> dict[str, object]:
    """Restart a service and report the state it is in afterwards."""
    manager = service_manager()
    if manager is None:
        raise ToolFailed(f"The service {quoted(name)} was not restarted. {NO_MANAGER}")
    done = await run(manager, "restart", "--no-pager", "--no-ask-password", "--", unit(name), seconds=RESTART_SECONDS)
    if done.code != 0:
        raise ToolFailed(f"The service {quoted(name)} was not restarted: {_first(done.err)}")
    return await service_state(name)


def _first(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "it gave no reason.")
    return line if len(line) <= 300 else line[:300] + "…"


def tools() -> list[Tool]:
    """`host.service_state` and `host.restart_service`."""
    return [
        declare(
            service_state,
            name="host.service_state",
            statement="Read the state of the service {name} on this host",
            tier=Tier.READ_ONLY,
            reversible=True,
            idempotent=True,
        ),
        declare(
            restart_service,
            name="host.restart_service",
            statement=f"Restart the service {{name}} on this host, {this_host()}",
            tier=Tier.CONSEQUENTIAL,
            timeout_ms=130_000,
        ),
    ]
