"""What all tests share, and which of them are long."""

import os
from pathlib import Path

import pytest

# Tests start the program hundreds of times: compiled modules are kept, inside this folder.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ROOT = Path(__file__).parent
# Whole folders, and modules: the suites of others, browsers, published servers, soaks, and what
# starts hundreds of programs. One in six tests, two thirds of the time.
LONG = frozenset(
    """
    conformance
    attacks/test_ending attacks/test_floods attacks/test_fuzz attacks/test_integers
    attacks/test_schemas attacks/test_small_ones
    access/test_authlib access/test_own_listings
    cli/test_bundle cli/test_looking cli/test_projects_life
    demo/test_leaves_nothing demo/test_shutdown demo/test_soak
    examples
    gateway/test_bounds gateway/test_document gateway/test_edits gateway/test_faults
    gateway/test_killed gateway/test_locking gateway/test_mixed_eras gateway/test_real_clients
    gateway/test_real_servers
    gateway/test_registry_commands gateway/test_secrets gateway/test_showcase
    hooks/test_bad_input hooks/test_contract_variants hooks/test_equal_answers
    hooks/test_policy hooks/test_roots
    peers/test_raw
    project/test_many_mistakes
    requirements/test_lifecycle requirements/test_lists
    scripts/test_nothing_left
    strict
    sdk/test_json_reading sdk/test_json_tool
    transports/test_hostile_input
    upstreams/test_conformance upstreams/test_faults upstreams/test_real_servers
    upstreams/test_sdk_peer
    web/test_logins web/test_looks web/test_other_gateway web/test_page web/test_payloads
    web/test_registry web/test_scale web/test_try
    """.split()  # noqa: SIM905 - a list would take a line for each
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = item.path.relative_to(ROOT).with_suffix("")
        if not LONG.isdisjoint({str(place), *map(str, place.parents)}):
            item.add_marker("long")
