"""What strangers might send: JSON of every kind, and things that look like what they should be.

Hypothesis draws a seed and the rest is made from it: a thousand times as fast, and as repeatable.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from hypothesis import strategies as st

Json: TypeAlias = Any
Make: TypeAlias = Callable[[], Json]
WORDS = (
    *("name", "uri", "uriTemplate", "type", "arguments", "inputSchema", "outputSchema", "content"),
    *("properties", "required", "items", "$ref", "$defs", "pattern", "enum", "default", "_meta"),
    *("structuredContent", "isError", "text", "messages", "contents", "description", "title"),
    *("progressToken", "cursor", "ref", "argument", "value", "level", "requestId", "icons"),
    *("inputRequests", "requestState", "resultType", "annotations", "mimeType", "blob", "size"),
    *("a", "b", "", "__proto__", "ü", "\x00", "a b"),
)
VALUES: tuple[Json, ...] = (
    *("object", "string", "integer", "array", "#", "#/$defs/a", "a", "give", "made", "echo"),
    *("ref/prompt", "ref/resource", "input_required", "complete", "file:///a", "x://{a}", "$.a"),
    *("2025-06-18", "2026-07-28", "text", "^(a|b)*$", "\x00", "\u2028", "%zz", "notifications/x"),
    *(None, True, False, 0, 1, -1, 2.5, 1e308, 5e-324, -0.0, "", "ü", "x" * 300, "(", "[]", "{}"),
    *(2**53 + 1, 2**63, 2**64, -(2**64), 10**30, 10**400, [], {}, "𐍈", "\ufeff", "null"),
)
TYPES = ("object", "string", "integer", "array", "null", "boolean", "number", "odd")
NAMES = ("a", "b", "echo", "give", "made", "ü", "x" * 300, "", "a b", "__proto__", "t", "p")


class Wild(Random):
    """Makes things by chance."""

    def value(self, depth: int = 3) -> Json:
        kind = self.random()
        if depth == 0 or kind < 0.5:
            return self.choice(VALUES)
        if kind < 0.7:
            return [self.value(depth - 1) for _ in range(self.randrange(4))]
        return self.object(depth - 1)

    def object(self, depth: int = 2) -> dict[str, Json]:
        return {self.choice(WORDS): self.value(depth) for _ in range(self.randrange(5))}

    def many(self, make: Make, most: int = 3) -> list[Json]:
        return [make() for _ in range(self.randrange(most + 1))]

    def like(self, **fields: Make) -> dict[str, Json]:
        """What it should be, mostly: any field may be missing or odd, and others be there."""
        made = self.object(1) if self.random() < 0.3 else {}
        for name, make in fields.items():
            kind = self.random()
            if kind < 0.75:
                made[name] = make()
            elif kind < 0.9:
                made[name] = self.value(2)
        return made

    def one(self, *values: Json) -> Make:
        return lambda: self.choice(values)

    def name(self) -> str:
        return self.choice(NAMES)

    def schema(self, depth: int = 3) -> Json:
        if depth == 0 or self.random() < 0.05:
            return self.value(1)

        def below() -> Json:
            return self.schema(depth - 1)

        made = self.like(type=self.one(*TYPES))
        parts: dict[str, Make] = {
            "properties": lambda: {self.choice(WORDS): below() for _ in range(self.randrange(4))},
            "required": lambda: self.many(self.name),
            "items": below,
            "allOf": lambda: self.many(below),
            "anyOf": lambda: self.many(below),
            "not": below,
            "enum": lambda: self.many(self.value),
            "$defs": lambda: {name: below() for name in ("a", "b")},
            "$ref": self.one("#", "#/$defs/a", "#/$defs/b", "#a", "https://x.test/y", "#/$defs"),
            "pattern": self.one("^a+$", "(?!a)b", "(", "(a|b)*a(a|b){20}"),
            "x-mcp-header": self.one("A", "B", "a b", ""),
            "additionalProperties": below,
            "source_field": self.one("$.a", "$[", "$..*"),
        }
        chosen = self.sample(sorted(parts), self.randrange(4))
        return {**made, **self.like(**{name: parts[name] for name in chosen})}

    def block(self) -> Json:
        return self.like(
            type=self.one("text", "image", "audio", "resource", "resource_link", "odd"),
            text=self.one("x", '{"a": 1}', "[1, 2", '{"a": 1e999}', "1" * 400, "[" * 300),
            data=self.one("QUJD", "?"),
        )

    def result(self) -> Json:
        return self.like(
            content=lambda: self.many(self.block),
            structuredContent=self.object,
            isError=self.one(True, False),
            resultType=self.one("complete", "complete", "complete", "input_required", "task"),
            _meta=self.object,
        )

    def tool(self) -> Json:
        return self.like(
            name=self.name,
            inputSchema=self.schema,
            outputSchema=self.schema,
            description=self.name,
            _meta=self.object,
        )

    def prompt(self) -> Json:
        def argument() -> Json:
            return self.like(name=self.name, required=self.one(True, False))

        return self.like(name=self.name, arguments=lambda: self.many(argument))

    def resource(self) -> Json:
        return self.like(uri=self.one("file:///a", "x://b", "", "\x00"), name=self.name)

    def template(self) -> Json:
        places = self.one("x://{a}", "{+a*}", "{{}", "x://{a}{b}", "x://{a}/{b}")
        return self.like(uriTemplate=places, name=self.name)

    def params(self) -> Json:
        return self.like(
            name=self.one("echo", "t", "made", "p", "none"),
            uri=self.one("file:///a", "x://a", "../..", "\x00"),
            arguments=self.object,
            cursor=self.one("x", "", "e30"),
            level=self.one("debug", "info"),
            ref=lambda: self.like(type=self.one("ref/prompt", "ref/resource"), name=self.name),
            argument=lambda: self.like(name=self.one("name"), value=self.name),
            requestId=lambda: self.randrange(9),
            _meta=self.object,
        )


wild = st.integers(0, 2**63).map(Wild)
