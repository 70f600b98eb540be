"""The names under which a service is reached."""

import socket
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Hosts:
    """The names under which the service is reached; a page from elsewhere can give this machine's address another."""

    names: Collection[str]
    """Without ports; an IPv6 address in brackets."""
    any_address: bool = False
    """Whether every IP address is right: the service listens at all, and a page has no way to forge one."""

    @classmethod
    def of(cls, bound: str, more: Collection[str] = ()) -> "Hosts":
        """The names of a service that listens at the address `bound`, and others."""
        names = {(f"[{bound}]" if ":" in bound else bound).lower(), *(name.lower() for name in more)}
        everywhere = bound in ("", "0.0.0.0", "::")  # noqa: S104 - it asks, and does not bind
        if everywhere:
            names.add(socket.gethostname().lower())
        if everywhere or names & set(LOOPBACK) or bound.startswith("127."):
            names |= set(LOOPBACK)
        return cls(frozenset(names), everywhere)

    def __contains__(self, host: str) -> bool:
        """Whether a request with this header Host is for this service."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() and not host.endswith("]") else host
        name = name.lower().removesuffix(".")
        return name in self.names or (self.any_address and _is_address(name.strip("[]")))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
