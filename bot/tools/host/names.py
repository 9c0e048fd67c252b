"""What this machine is called: its names and addresses, by which an alert about it is told from one about another."""

import socket
from collections.abc import Iterable
from ipaddress import ip_address

import psutil

_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def names(further: Iterable[str]) -> frozenset[str]:
    """Every name we know: its own, whole and short, its addresses, and `further` ones.

    `localhost` is whatever machine wrote it, so it is none of ours unless somebody says so. Nothing is looked up in
    DNS: what that says is somebody else's word.
    """
    own = socket.gethostname()
    found = {own, own.partition(".")[0]} - {"localhost"}
    for entry in (entry for entries in psutil.net_if_addrs().values() for entry in entries):
        if entry.family in _FAMILIES and not ip_address(address := entry.address.partition("%")[0]).is_loopback:
            found.add(address)
    return frozenset(plain(name) for name in (*found, *further) if name)


def plain(name: str) -> str:
    """A name or an address without its port, as it is compared: names of machines know no case."""
    name = name.strip().lower().rstrip(".")
    if name.startswith("["):  # an IPv6 address with a port
        return name[1:].partition("]")[0]
    host, colon, port = name.rpartition(":")
    return host if colon and port.isdigit() and ":" not in host else name
