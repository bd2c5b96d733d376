"""Which addresses may be called on somebody else's word: those of the public internet, and no other.  Pure."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

Address = IPv4Address | IPv6Address

_NOT_PUBLIC: Final = (
    IPv4Network("0.0.0.0/8"),
    IPv4Network("100.64.0.0/10"),
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),
    IPv4Network("198.18.0.0/15"),
    IPv4Network("168.63.129.16/32"),
    IPv6Network("::/16"),
    IPv6Network("64:ff9b::/96"),
    IPv6Network("64:ff9b:1::/48"),
    IPv6Network("100::/64"),
    IPv6Network("2001::/23"),
    IPv6Network("2001:db8::/32"),
    IPv6Network("2002::/16"),
    IPv6Network("3fff::/20"),
    IPv6Network("5f00::/16"),
    IPv6Network("fec0::/10"),
)
"""Named here because Python versions differ on them, or because they lead to an IPv4 address in disguise."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet.

    Private, loopback, link-local (with the metadata services of clouds), multicast, reserved and unspecified ones are
    not, nor is any IPv6 form that holds an IPv4 address: mapped, compatible, translated, 6to4, Teredo.
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    if any(address in network for network in _NOT_PUBLIC if network.version == address.version):
        return False
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def literal(host: str) -> Address | None:
    """The address that a host part is, in its usual form; None for a name."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None
