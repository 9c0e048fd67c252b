"""Who may knock: a bearer of the token, compared in constant time; without one, programs of this machine (R24)."""

import hmac
import ipaddress

from starlette.exceptions import HTTPException
from starlette.requests import Request

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def has_token(request: Request, token: str) -> bool:
    """Whether the request carries the token, exactly, as `Authorization: Bearer …`; nobody carries an empty one."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    right = hmac.compare_digest(given.strip().encode("latin-1"), token.encode())
    return bool(token) and right and scheme.lower() == "bearer"


def require_token(request: Request, token: str, where: str) -> None:
    """Let the request in by its token alone. Raises 401; `where` says where the token is found."""
    if not has_token(request, token):
        raise HTTPException(401, f"A bearer token is needed here; {where}.", {"WWW-Authenticate": "Bearer"})


def require_local(request: Request, what_to_set: str) -> None:
    """Let in only what comes from a program of this machine. Raises 403.

    What a request says of where it comes from counts for nothing, except against it: one that was passed on by a
    proxy, or that a page in a browser made, is not local, whatever its last hop.
    """
    headers = request.headers
    passed_on = any(name in headers for name in _FORWARDED)
    of_a_page = "origin" in headers or headers.get("sec-fetch-site", "none") != "none"
    if not is_loopback(None if request.client is None else request.client.host) or passed_on or of_a_page:
        raise HTTPException(403, f"Without a token this is open to programs of this machine alone. {what_to_set}")


def is_loopback(host: str | None) -> bool:
    """Whether a peer's address is this machine's own."""
    try:
        address = ipaddress.ip_address(host or "")
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback
