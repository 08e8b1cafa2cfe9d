"""Rules by themselves: who is meant, and what a view leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.access.globs import globs
from toolyard.access.rules import Allowed, Rules, Who, read_rules, read_who
from toolyard.access.subject import Subject, subject_of
from toolyard.catalog.entries import Completion, Origin, Prompt, Resource, Template, Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.errors import ConfigError
from toolyard.protocol.call import Call, Caller, Channel, JsonObject, Result
from toolyard.protocol.revisions import LATEST

ADA = Caller("token:ada", "ada")
EVE = Caller(
    "https://as.example|eve", "eve", {"sub": "eve", "scope": "read write", "groups": ["ops", "dev"]}
)


class Nothing:
    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        return {}


HERE, TARGET = Origin("project"), Nothing()


def catalog() -> Catalog:
    return Catalog(
        tools={name: Tool(name, {"name": name}, TARGET, HERE) for name in ("get_a", "set_a")},
        resources={u: Resource(u, {"name": u}, TARGET, HERE) for u in ("doc://a", "doc://b")},
        templates={"doc://{x}": Template("doc://{x}", {"name": "docs"}, TARGET, HERE)},
        prompts={"p": Prompt("p", {"name": "p"}, TARGET, HERE)},
        completions={ref: Completion(ref, TARGET, HERE) for ref in ("p", "docs", "doc://a")},
    )


@pytest.mark.parametrize(
    "who, ada, eve",
    [
        (Who(), True, True),
        (Who(token="ada"), True, False),
        (Who(subject="eve"), False, True),
        (Who(scope="write"), False, True),
        (Who(scope="wri"), False, False),
        (Who(claims={"groups": "ops"}), False, True),
        (Who(claims={"groups": ["ops", "dev"]}), False, True),
        (Who(claims={"groups": "op"}), False, False),
        (Who(subject="eve", scope="admin"), False, False),
    ],
)
def test_a_rule_means_those_who_meet_every_condition(who: Who, ada: bool, eve: bool) -> None:
    assert (who.includes(ADA), who.includes(EVE)) == (ada, eve)


def view(caller: Caller, *rules: JsonObject) -> Catalog:
    return Rules(read_rules(rules, "f"), {})(catalog(), caller)


def test_without_rules_everybody_sees_everything() -> None:
    whole = catalog()
    assert Rules((), {})(whole, ADA) is whole


def test_with_rules_nobody_sees_what_no_rule_gives() -> None:
    seen = view(EVE, {"for": {"token": "ada"}, "tools": ["*"]})
    assert (seen.tools, seen.resources, seen.templates, seen.prompts, seen.completions) == (
        *({}, {}, {}, {}, {}),
    )


def test_the_grants_of_all_fitting_rules_add_up() -> None:
    seen = view(
        EVE,
        {"for": {"scope": "read"}, "tools": ["get_*"]},
        {"for": {"scope": "write"}, "tools": ["set_*"], "prompts": ["p"]},
        {"for": "everyone", "resources": ["doc://b"]},
    )
    assert (list(seen.tools), list(seen.prompts)) == (["get_a", "set_a"], ["p"])
    assert (list(seen.resources), list(seen.templates)) == (["doc://b"], [])
    assert list(seen.completions) == ["p"]


def test_a_template_does_not_answer_for_a_resource_that_is_withheld() -> None:
    seen = view(EVE, {"resources": ["doc://{x}", "doc://a"]})
    assert seen.find_resource("doc://c") is not None
    assert seen.find_resource("doc://a") is not None
    assert seen.find_resource("doc://b") is None


def test_a_token_narrows_what_rules_give_and_rules_what_a_token_gives() -> None:
    narrow = Allowed(globs(["get_*"]), globs(()), globs(()))
    rules = Rules(read_rules([{"tools": ["*_a"], "prompts": ["*"]}], "f"), {ADA.id: narrow})
    assert (list(rules(catalog(), ADA).tools), rules(catalog(), ADA).prompts) == (["get_a"], {})
    assert list(rules(catalog(), EVE).tools) == ["get_a", "set_a"]
    alone = Rules((), {ADA.id: narrow})
    assert list(alone(catalog(), ADA).tools) == ["get_a"]


def test_a_view_is_made_once_for_all_whom_the_same_rules_fit_and_anew_for_a_new_catalog() -> None:
    rules = Rules(read_rules([{"for": "everyone", "tools": ["get_*"]}], "f"), {})
    first, second = catalog(), catalog()
    assert rules(first, ADA) is rules(first, EVE)
    assert rules(second, ADA) is not rules(first, ADA)


def test_the_page_is_not_subject_to_the_rules_that_its_user_wrote() -> None:
    rules = Rules(read_rules([{"for": {"token": "x"}}], "f"), {}, unruled=frozenset({"page"}))
    whole = catalog()
    assert rules(whole, Caller("page", "page")) is whole


@pytest.mark.parametrize(
    "rule, place",
    [
        ({"for": {"user": "x"}}, "/rules/0/for"),
        ({"for": "anyone"}, "/rules/0/for"),
        ({"for": {"token": 3}}, "/rules/0/for"),
        ({"tools": "*"}, "/rules/0/tools"),
        ({"tool": ["*"]}, "/rules/0/tool"),
    ],
)
def test_a_mistake_in_a_rule_is_named(rule: JsonObject, place: str) -> None:
    with pytest.raises(ConfigError, match=f"f#{place}"):
        read_rules([rule], "f")


def call(method: str, caller: Caller = ADA, **params: Any) -> Call:
    return Call(method, params, LATEST, caller=caller)


@pytest.mark.parametrize(
    "about, subject",
    [
        (call("tools/call", name="a"), Subject("tools", "a")),
        (call("prompts/get", name="a"), Subject("prompts", "a")),
        (call("resources/read", uri="a"), Subject("resources", "a")),
        (call("resources/subscribe", uri="a"), Subject("resources", "a")),
        (call("resources/read", name="a"), Subject("resources", "a")),
        (call("tools/call", name=["a"]), Subject("tools", "")),
        (call("tools/list"), Subject("other", "")),
        (call("completion/complete"), Subject("other", "")),
        (call("completion/complete", ref={"type": []}), Subject("other", "")),
        (
            call("completion/complete", ref={"type": "ref/prompt", "name": "a"}),
            Subject("prompts", "a"),
        ),
    ],
)
def test_every_method_is_about_something(about: Call, subject: Subject) -> None:
    assert subject_of(about) == subject


@pytest.mark.parametrize(
    "patterns, fits, not_fits",
    [
        (["get_*"], "get_a", "GET_a"),
        (["a?"], "ab", "abc"),
        (["a", "b"], "b", "ab"),
        (["*"], "anything\nat all", None),
        ([], None, "a"),
        (["a.c"], "a.c", "abc"),
    ],
)
def test_patterns_mean_whole_names(
    patterns: list[str], fits: str | None, not_fits: str | None
) -> None:
    matches = globs(patterns)
    assert (fits is None or matches(fits)) and (not_fits is None or not matches(not_fits))


def test_everyone_and_nothing_said_mean_the_same() -> None:
    assert read_who("everyone") == read_who({}) == Who()
