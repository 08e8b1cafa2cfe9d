"""From the text of a jq filter to a filter, by recursive descent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from . import filters, functions
from .filters import Filter
from .values import UnknownFilterError

_TOKEN = re.compile(
    r"""(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
      | (?P<field>\.[A-Za-z_]\w*)
      | (?P<variable>\$[A-Za-z_]\w*)
      | (?P<format>@\w+)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign>\|=|//=|\+=|-=|\*=|//|==|!=|<=|>=|\.\.|[-+*/%|,()\[\]{}:;<>.?=])""",
    re.VERBOSE,
)
_BLANK = re.compile(r"(?:\s|\#[^\n]*)*")
_TEXT_PART = re.compile(r'[^"\\]+|\\[^(]')
_CONSTANTS = {"true": True, "false": False, "null": None}
_LEVELS = (("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))


class Token(NamedTuple):
    kind: str
    text: str
    parts: list[Any]  # of a string: by turns text and the tokens of an interpolation


def parse(source: str) -> Filter:
    tokens, _ = _tokens(source, 0, closing="")
    if not tokens:
        return filters.identity
    parser = Parser(tokens)
    result = parser.pipe()
    if parser.next.kind != "end":
        raise UnknownFilterError(f"unexpected {parser.next.text!r}")
    return result


def _tokens(source: str, start: int, closing: str) -> tuple[list[Token], int]:
    """Tokens up to the parenthesis that closes an interpolation, or to the end."""
    tokens: list[Token] = []
    depth, at = 0, _blank(source, start)
    while at < len(source):
        if source[at] == '"':
            token, at = _string(source, at + 1)
        else:
            match = _TOKEN.match(source, at)
            if not match:
                raise UnknownFilterError(f"unexpected {source[at]!r}")
            token, at = Token(match.lastgroup or "", match.group(), []), match.end()
            depth += (token.text == "(") - (token.text == ")")
            if depth < 0 and closing:
                return tokens, at
        tokens.append(token)
        at = _blank(source, at)
    if closing:
        raise UnknownFilterError("a string does not end")
    return tokens, at


def _blank(source: str, at: int) -> int:
    match = _BLANK.match(source, at)
    return match.end() if match else at


def _string(source: str, at: int) -> tuple[Token, int]:
    parts: list[Any] = [""]
    while not source.startswith('"', at):
        if source.startswith("\\(", at):
            tokens, at = _tokens(source, at + 2, closing=")")
            parts += [tokens, ""]
            continue
        match = _TEXT_PART.match(source, at)
        if not match:
            raise UnknownFilterError("a string does not end")
        parts[-1] += match.group()
        at = match.end()
    for place in range(0, len(parts), 2):
        parts[place] = json.loads(f'"{parts[place]}"', strict=False)
    return Token("string", '"', parts), at + 1


class Parser:
    """One method a level of precedence, from the loosest to the tightest."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = [*tokens, Token("end", "end of the filter", [])]
        self._at = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def take(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def accept(self, *texts: str) -> str:
        """The next token's text if it is one of these; it is then taken."""
        fits = self.next.kind in ("sign", "word") and self.next.text in texts
        return self.take().text if fits else ""

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise UnknownFilterError(f"expected {text!r}, not {self.next.text!r}")

    def pipe(self) -> Filter:
        operand = self.comma()
        if self.accept("as"):
            name = self.take().text[1:]
            self.expect("|")
            return filters.bind(operand, name, self.pipe())
        return filters.pipe(operand, self.pipe()) if self.accept("|") else operand

    def comma(self) -> Filter:
        operand = self.alternative()
        while self.accept(","):
            operand = filters.both(operand, self.alternative())
        return operand

    def alternative(self) -> Filter:
        operand = self.either()
        if self.next.text in ("=", "|=", "//=", "+=", "-=", "*="):
            raise UnknownFilterError(f"assignment ({self.next.text}) needs jq or gojq")
        return filters.alternative(operand, self.alternative()) if self.accept("//") else operand

    def either(self) -> Filter:
        operand = self.each()
        while self.accept("or"):
            operand = filters.logical(operand, self.each(), stop=True)
        return operand

    def each(self) -> Filter:
        operand = self.binary(0)
        while self.accept("and"):
            operand = filters.logical(operand, self.binary(0), stop=False)
        return operand

    def binary(self, level: int) -> Filter:
        if level == len(_LEVELS):
            return self.unary()
        operand = self.binary(level + 1)
        while sign := self.accept(*_LEVELS[level]):
            operand = filters.binary(filters.OPERATORS[sign], operand, self.binary(level + 1))
        return operand

    def unary(self) -> Filter:
        if self.accept("-"):
            return filters.binary(filters.subtract, filters.literal(0), self.postfix())
        return self.postfix()

    def postfix(self) -> Filter:
        result = self.term()
        while True:
            if self.next.kind == "field":
                result = filters.index(result, filters.literal(self.take().text[1:]))
            elif self.next.text == "." and self._tokens[self._at + 1].text in ('"', "["):
                self.take()
            elif self.next.kind == "string":
                result = filters.index(result, self.string(self.take(), "@text"))
            elif self.accept("["):
                result = self.brackets(result)
            elif self.accept("?"):
                result = filters.optional(result)
            else:
                return result

    def brackets(self, base: Filter) -> Filter:
        if self.accept("]"):
            return filters.iterate(base)
        nothing = filters.literal(None)
        start = nothing if self.next.text == ":" else self.pipe()
        if not self.accept(":"):
            self.expect("]")
            return filters.index(base, start)
        end = nothing if self.next.text == "]" else self.pipe()
        self.expect("]")
        return filters.cut(base, start, end)

    def term(self) -> Filter:
        token = self.take()
        if token.kind in _TERMS:
            return _TERMS[token.kind](self, token)
        if token.text in _SIGNS:
            return _SIGNS[token.text](self)
        raise UnknownFilterError(f"unexpected {token.text!r}")

    def field(self, token: Token) -> Filter:
        return filters.index(filters.identity, filters.literal(token.text[1:]))

    def number(self, token: Token) -> Filter:
        return filters.literal(json.loads(token.text))

    def string(self, token: Token, form: str = "@text") -> Filter:
        parts = [
            Parser(part).pipe() if place % 2 else filters.literal(part)
            for place, part in enumerate(token.parts)
        ]
        return filters.interpolate(parts, functions.FORMATS[form])

    def variable(self, token: Token) -> Filter:
        return filters.variable(token.text[1:])

    def format(self, token: Token) -> Filter:
        if token.text not in functions.FORMATS:
            raise UnknownFilterError(f"{token.text} is not known")
        if self.next.kind == "string":
            return self.string(self.take(), token.text)
        return functions.plain(functions.FORMATS[token.text])

    def word(self, token: Token) -> Filter:
        name = token.text
        if name in _CONSTANTS:
            return filters.literal(_CONSTANTS[name])
        if name == "if":
            return self.condition()
        if self.next.text == "(" and name in functions.WITH_ARGUMENT:
            self.take()
            argument = self.pipe()
            self.expect(")")
            return functions.WITH_ARGUMENT[name](argument)
        if name in functions.NULLARY:
            return functions.NULLARY[name]
        if name in functions.PLAIN:
            return functions.plain(functions.PLAIN[name])
        raise UnknownFilterError(f"the function {name} is not known")

    def condition(self) -> Filter:
        test = self.pipe()
        self.expect("then")
        then = self.pipe()
        if self.accept("elif"):
            return filters.condition(test, then, self.condition())
        otherwise = self.pipe() if self.accept("else") else filters.identity
        self.expect("end")
        return filters.condition(test, then, otherwise)

    def group(self) -> Filter:
        inner = self.pipe()
        self.expect(")")
        return inner

    def array(self) -> Filter:
        if self.accept("]"):
            return filters.collect(None)
        inner = self.pipe()
        self.expect("]")
        return filters.collect(inner)

    def object(self) -> Filter:
        pairs: list[tuple[Filter, Filter]] = []
        while not self.accept("}"):
            pairs.append(self.pair())
            if not self.accept(","):
                self.expect("}")
                break
        return filters.build_object(pairs)

    def pair(self) -> tuple[Filter, Filter]:
        token = self.take()
        if token.text == "(":
            key = self.group()
        elif token.kind == "string":
            key = self.string(token)
        elif token.kind in ("word", "variable"):
            key = filters.literal(token.text.lstrip("$"))
        else:
            raise UnknownFilterError(f"unexpected {token.text!r} as a key")
        if self.accept(":"):
            return key, self.alternative()
        if token.kind == "variable":
            return key, self.variable(token)
        return key, filters.index(filters.identity, key)

    def dot(self) -> Filter:
        if self.next.kind == "string":
            return filters.index(filters.identity, self.string(self.take()))
        return filters.identity


_TERMS: dict[str, Callable[[Parser, Token], Filter]] = {
    "field": Parser.field,
    "number": Parser.number,
    "string": Parser.string,
    "variable": Parser.variable,
    "format": Parser.format,
    "word": Parser.word,
}
_SIGNS: dict[str, Callable[[Parser], Filter]] = {
    "(": Parser.group,
    "[": Parser.array,
    "{": Parser.object,
    ".": Parser.dot,
    "..": lambda parser: filters.descend,
}
