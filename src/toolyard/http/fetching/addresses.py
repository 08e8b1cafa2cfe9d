"""Which hosts and addresses a fetch may reach. Pure: resolves nothing.

Every spelling of a private address is refused: decimal, octal and hexadecimal hosts,
IPv4 inside IPv6 in all its forms, and whatever is not plainly public.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

# Beside what `is_global` knows, which differs between versions of Python.
_REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("::/127", "100::/64", "2001:db8::/32", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
)
# The part of IPv6 that is handed out. Addresses outside it that translate to IPv4 (mapped,
# translated, local NAT64) can carry any IPv4 address: all are refused, except one prefix.
_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)  # before the last 32 bits, which are an IPv4 address


class NotAllowed(Exception):
    """Why a host or an address is not reached."""


@dataclass(frozen=True, slots=True)
class HostRules:
    """Which hosts may be named: those on a list, or all; never those that are denied."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    allow_all: bool = False

    def check(self, host: str) -> None:
        if host in map(str.lower, self.deny):
            raise NotAllowed(f"the host {host} is denied")
        if not self.allow_all and host not in map(str.lower, self.allow):
            raise NotAllowed(f"the host {host} is not on the list of allowed hosts")


def canonical_host(host: str) -> str:
    """The host in lower case ASCII. Raises NotAllowed if it is spelled to mislead."""
    host = host.strip("[]").rstrip(".")
    if not host or "%" in host or "\\" in host:
        raise NotAllowed("the host is missing or malformed")
    if address_in(host) is not None:
        return host.lower()
    try:
        name = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise NotAllowed(f"the host {host!r} is malformed") from None
    if not name or is_number(name.rpartition(".")[2]) or any(not _plain(char) for char in name):
        raise NotAllowed(f"the host {host!r} is not a name")
    return name


def address_in(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_number(label: str) -> bool:
    """Would a resolver take this label for (part of) an address?"""
    if label.isdigit():
        return True
    hexadecimal = label.removeprefix("0x")
    return hexadecimal != label and all(char in "0123456789abcdef" for char in hexadecimal)


def _plain(char: str) -> bool:
    return char.isalnum() or char in "-._"


def is_public(address: Address) -> bool:
    """Is this address on the open Internet, with every address inside it?"""
    return all(_is_public(candidate) for candidate in (address, *_inside(address)))


def _is_public(address: Address) -> bool:
    if any(address.version == network.version and address in network for network in _REFUSED):
        return False
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return address in _NAT64
    return address.is_global


def _inside(address: Address) -> Iterator[ipaddress.IPv4Address]:
    """IPv4 addresses that an IPv6 address carries."""
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if address in _NAT64 or int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
