"""Only addresses of the public internet may be called, in whatever form a private one is dressed."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.address import is_public

INSIDE = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
    "240.0.0.0/4", "255.255.255.255/32", "168.63.129.16/32",
]  # fmt: skip
INSIDE_6 = [
    "::/128", "::1/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32",
    "2002::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "fd00:ec2::254/128", "3fff::/20", "5f00::/16",
]  # fmt: skip


def _within(networks: list[str]) -> st.SearchStrategy[int]:
    bounds = [(int(net[0]), int(net[-1])) for net in map(_network, networks)]
    return st.one_of([st.integers(first, last) for first, last in bounds])


def _network(text: str) -> IPv4Network | IPv6Network:
    return IPv6Network(text) if ":" in text else IPv4Network(text)


@given(_within(INSIDE))
def test_no_address_of_a_private_or_reserved_range_is_public(number: int) -> None:
    assert not is_public(IPv4Address(number))


@given(_within(INSIDE_6))
def test_no_ipv6_address_of_a_private_or_reserved_range_is_public(number: int) -> None:
    assert not is_public(IPv6Address(number))


@given(st.integers(0, 2**32 - 1), st.sampled_from(["::ffff:0:0", "::", "64:ff9b::"]))
def test_an_ipv4_address_in_ipv6_dress_is_never_public(number: int, dress: str) -> None:
    assert not is_public(IPv6Address(int(IPv6Address(dress)) + number))


@given(st.integers(0, 2**32 - 1))
def test_what_is_public_is_in_none_of_the_ranges(number: int) -> None:
    address = IPv4Address(number)

    assert is_public(address) == (not any(address in IPv4Network(each) for each in [*INSIDE, "192.88.99.0/24"]))


@pytest.mark.parametrize("text", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:80b::200e"])
def test_addresses_of_the_internet_are_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "fe80::1%eth0"])
def test_metadata_services_are_not(text: str) -> None:
    assert not is_public(ip_address(text))
