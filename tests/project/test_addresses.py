"""Which hosts and addresses may be fetched from."""

import ipaddress

import pytest

from toolyard.http.fetching.addresses import HostRules, NotAllowed, canonical_host, is_public
from toolyard.http.fetching.dial import GuardedDial, Resolve

ANY = HostRules(allow_all=True)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
        *("169.254.169.254",),
        *("0.0.0.0", "0.1.2.3", "100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1"),
        *("240.0.0.1", "255.255.255.255", "203.0.113.9", "198.51.100.1", "192.88.99.1"),
        *("::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "fec0::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:a9fe:a9fe"),
        *("64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b:1::10.0.0.1"),
        *("2002:7f00:1::", "2002:a00:1::1", "2001:0:7f00:1::", "100::1"),
        *("::ffff:0:127.0.0.1", "::ffff:0:a9fe:a9fe", "64:ff9b:1:7f00:0:100::", "64:ff9b:1::1"),
        *("64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:2::1", "64:ff9b::1:7f00:1", "4000::1", "1::1"),
        *("2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1"),
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused_in_every_spelling(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "64:ff9b::8.8.8.8", "172.32.0.1"]
)
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "host",
    [
        *("", ".", "2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.0x1"),
        *("a.b.1", "１２７.０.０.１", "127。0。0。1", "exa mple.org", "a%2eb", "a\\b", "0x"),
    ],
)  # fmt: skip
def test_a_host_that_is_spelled_to_mislead_is_refused(host: str) -> None:
    with pytest.raises(NotAllowed):
        GuardedDial(ANY).host(host)


@pytest.mark.parametrize(
    "written, host",
    [
        ("Example.ORG.", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("a_b.example", "a_b.example"),
        ("8.8.8.8", "8.8.8.8"),
        ("[2606:4700::1111]", "2606:4700::1111"),
    ],
)
def test_a_plain_host_has_one_canonical_spelling(written: str, host: str) -> None:
    assert canonical_host(written) == host


def test_a_literal_private_address_is_refused_even_where_everything_is_allowed() -> None:
    for host in ("127.0.0.1", "[::1]", "::ffff:127.0.0.1", "169.254.169.254"):
        with pytest.raises(NotAllowed, match="not public"):
            GuardedDial(ANY).host(host)


def test_only_listed_hosts_are_reached_and_a_denied_one_never() -> None:
    rules = HostRules(allow=("Good.example", "both.example"), deny=("both.example",))
    assert GuardedDial(rules).host("good.example") == "good.example"
    for host in ("other.example", "both.example", "sub.good.example", "good.example.evil.org"):
        with pytest.raises(NotAllowed):
            GuardedDial(rules).host(host)
    with pytest.raises(NotAllowed):
        GuardedDial(HostRules()).host("any.example")


def resolving_to(*addresses: str) -> Resolve:
    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


async def test_every_address_of_a_name_must_be_public() -> None:
    dial = GuardedDial(ANY, resolve=resolving_to("8.8.8.8", "127.0.0.1"))
    with pytest.raises(NotAllowed, match=r"127\.0\.0\.1, which is not public"):
        await dial.addresses("sly.example", 443)
    dial = GuardedDial(ANY, resolve=resolving_to("8.8.8.8", "8.8.8.8"))
    assert await dial.addresses("a", 1) == ["8.8.8.8"]


async def test_a_name_that_does_not_resolve_is_refused() -> None:
    async def fail(host: str, port: int) -> list[str]:
        raise OSError

    with pytest.raises(NotAllowed, match="cannot be resolved"):
        await GuardedDial(ANY, resolve=fail).addresses("none.example", 443)
    with pytest.raises(NotAllowed, match="cannot be resolved"):
        await GuardedDial(ANY, resolve=resolving_to()).addresses("none.example", 443)
