"""What each revision has, as a client would meet it: one line a fact."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.protocol.revisions import (
    ALL,
    ELICITATION_COMPLETE,
    HANDSHAKE,
    LATEST,
    LATEST_HANDSHAKE,
    LIKE_MCP_BASH,
    MODERN,
    Revision,
    negotiate,
    older,
)

DATES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]


def test_there_are_five_and_one_of_them_is_modern() -> None:
    assert list(ALL) == DATES
    assert list(HANDSHAKE) == DATES[:4]
    assert list(MODERN) == DATES[4:]
    assert (LATEST_HANDSHAKE.date, LATEST.date) == ("2025-11-25", "2026-07-28")
    assert [str(revision) for revision in ALL.values()] == DATES


# Who has it, oldest revision first: x has, - has not.
@pytest.mark.parametrize(
    ("has", "who"),
    [
        (lambda r: "initialize" in r.methods, "xxxx-"),
        (lambda r: "ping" in r.methods, "xxxx-"),
        (lambda r: "logging/setLevel" in r.methods, "xxxx-"),
        (lambda r: "resources/subscribe" in r.methods, "xxxx-"),
        (lambda r: "server/discover" in r.methods, "----x"),
        (lambda r: "subscriptions/listen" in r.methods, "----x"),
        (lambda r: "tools/call" in r.methods, "xxxxx"),
        (lambda r: "completion/complete" in r.methods, "xxxxx"),
        (lambda r: "tools/list" in r.methods and "prompts/list" in r.methods, "xxxxx"),
        (lambda r: "resources/list" in r.methods, "xxxxx"),
        (lambda r: "resources/templates/list" in r.methods, "xxxxx"),
        (lambda r: r.batches, "-x---"),
        (lambda r: r.version_header, "--xxx"),
        (lambda r: r.progress_message, "-xxxx"),
        (lambda r: r.resumable_priming, "---x-"),
        (lambda r: "completions" in r.capabilities, "-xxxx"),
        (lambda r: "tasks" in r.capabilities, "---x-"),
        (lambda r: "extensions" in r.capabilities, "----x"),
        (lambda r: "audio" in r.content_kinds, "-xxxx"),
        (lambda r: "resource_link" in r.content_kinds, "--xxx"),
        (lambda r: "annotations" not in r.later_tool_fields, "-xxxx"),
        (lambda r: "title" not in r.later_tool_fields, "--xxx"),
        (lambda r: "outputSchema" not in r.later_tool_fields, "--xxx"),
        (lambda r: "icons" not in r.later_tool_fields, "---xx"),
        (lambda r: "execution" not in r.later_tool_fields, "---x-"),
        (lambda r: "title" not in r.later_entry_fields, "--xxx"),
        (lambda r: "icons" not in r.later_entry_fields, "---xx"),
        (lambda r: "title" not in r.later_info_fields, "--xxx"),
        (lambda r: "websiteUrl" not in r.later_info_fields, "---xx"),
        (lambda r: "lastModified" not in r.later_annotations, "--xxx"),
        (lambda r: r.structured_content != "none", "--xxx"),
        (lambda r: r.structured_content == "any", "----x"),
        (lambda r: "form" in r.elicitation, "--xxx"),
        (lambda r: "url" in r.elicitation, "---xx"),
        (lambda r: r.tracked_urls, "---x-"),
        (lambda r: r.may_hear(ELICITATION_COMPLETE), "---x-"),
        (lambda r: r.may_hear("notifications/message"), "xxxxx"),
        (lambda r: "elicitation" in r.client_capabilities, "--xxx"),
        (lambda r: "sampling" in r.client_capabilities, "xxxxx"),
        (lambda r: r.client_capabilities["roots"] == {"listChanged"}, "xxxx-"),
        (lambda r: "audio" in r.sampling_kinds, "-xxxx"),
        (lambda r: "tool_use" in r.sampling_kinds, "---xx"),
        (lambda r: "tool_result" in r.sampling_kinds, "---xx"),
        (lambda r: r.sampling_lists, "---xx"),
    ],
)
def test_who_has_what(has: Any, who: str) -> None:
    assert "".join("x" if has(revision) else "-" for revision in ALL.values()) == who


@pytest.mark.parametrize(
    ("requested", "answered"),
    [
        *((date, date) for date in DATES[:4]),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
        (None, "2025-11-25"),
        (7, "2025-11-25"),
        ([], "2025-11-25"),
    ],
)
def test_what_initialize_settles_on(requested: Any, answered: str) -> None:
    assert negotiate(requested).date == answered
    assert negotiate(requested, LIKE_MCP_BASH) is LIKE_MCP_BASH[answered]


@pytest.mark.parametrize("one", ALL.values(), ids=str)
def test_the_older_of_two_is_the_same_either_way(one: Revision) -> None:
    for other in ALL.values():
        expected = ALL[min(one.date, other.date)]
        assert older(one, other) is older(other, one) is expected


def test_mcp_bash_shows_old_clients_structured_content_and_no_completions() -> None:
    shown = {date: revision.structured_content for date, revision in LIKE_MCP_BASH.items()}
    assert shown == dict.fromkeys(DATES[:4], "object")
    completing = [date for date, r in LIKE_MCP_BASH.items() if "completions" in r.capabilities]
    assert completing == DATES[2:4]
