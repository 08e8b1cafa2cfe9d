"""The filters of jq as functions: a value and variables in, values out, one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from .values import FilterError, is_true, kind, number, order, shown

Variables = dict[str, Any]
Filter = Callable[[Any, Variables], Iterator[Any]]


def identity(value: Any, _: Variables) -> Iterator[Any]:
    yield value


def literal(constant: Any) -> Filter:
    return lambda value, variables: iter((constant,))


def variable(name: str) -> Filter:
    def look_up(_: Any, variables: Variables) -> Iterator[Any]:
        if name not in variables:
            raise FilterError(f"${name} is not defined")
        yield variables[name]

    return look_up


def pipe(first: Filter, second: Filter) -> Filter:
    return lambda value, variables: (
        result for middle in first(value, variables) for result in second(middle, variables)
    )


def bind(source: Filter, name: str, body: Filter) -> Filter:
    return lambda value, variables: (
        result
        for bound in source(value, variables)
        for result in body(value, {**variables, name: bound})
    )


def both(first: Filter, second: Filter) -> Filter:
    return lambda value, variables: itertools.chain(
        first(value, variables), second(value, variables)
    )


def alternative(first: Filter, second: Filter) -> Filter:
    """`first // second`: errors of the first count as nothing."""

    def choose(value: Any, variables: Variables) -> Iterator[Any]:
        any_result = False
        for result in optional(first)(value, variables):
            if is_true(result):
                any_result = True
                yield result
        if not any_result:
            yield from second(value, variables)

    return choose


def optional(inner: Filter) -> Filter:
    def attempt(value: Any, variables: Variables) -> Iterator[Any]:
        try:
            yield from inner(value, variables)
        except FilterError:
            return

    return attempt


def logical(first: Filter, second: Filter, *, stop: bool) -> Filter:
    """`or` stops at a true first operand, `and` at a false one."""

    def decide(value: Any, variables: Variables) -> Iterator[Any]:
        for operand in first(value, variables):
            if is_true(operand) is stop:
                yield stop
                continue
            for right in second(value, variables):
                yield is_true(right)

    return decide


def binary(operate: Callable[[Any, Any], Any], first: Filter, second: Filter) -> Filter:
    return lambda value, variables: (
        operate(operand, right)
        for right in second(value, variables)
        for operand in first(value, variables)
    )


def condition(test: Filter, then: Filter, otherwise: Filter) -> Filter:
    def decide(value: Any, variables: Variables) -> Iterator[Any]:
        for answer in test(value, variables):
            yield from (then if is_true(answer) else otherwise)(value, variables)

    return decide


def collect(inner: Filter | None) -> Filter:
    return lambda value, variables: iter(([*inner(value, variables)] if inner else [],))


def build_object(pairs: list[tuple[Filter, Filter]]) -> Filter:
    def build(value: Any, variables: Variables) -> Iterator[Any]:
        results: list[dict[str, Any]] = [{}]
        for key, member in pairs:
            results = [
                {**partial, name_of(name): item}
                for partial in results
                for name in key(value, variables)
                for item in member(value, variables)
            ]
        yield from results

    return build


def name_of(key: Any) -> str:
    if not isinstance(key, str):
        raise FilterError(f"object keys must be strings, not {shown(key)}")
    return key


def interpolate(parts: list[Filter], encode: Callable[[Any], str]) -> Filter:
    """Parts are by turns literal text and what `encode` makes text of."""

    def join(value: Any, variables: Variables) -> Iterator[Any]:
        for items in itertools.product(*(part(value, variables) for part in parts)):
            yield "".join(
                item if place % 2 == 0 else encode(item) for place, item in enumerate(items)
            )

    return join


def iterate(base: Filter) -> Filter:
    def each(value: Any, variables: Variables) -> Iterator[Any]:
        for container in base(value, variables):
            yield from members(container)

    return each


def members(container: Any) -> list[Any]:
    if isinstance(container, list):
        return container
    if isinstance(container, dict):
        return list(container.values())
    raise FilterError(f"cannot iterate over {shown(container)}")


def descend(value: Any, variables: Variables) -> Iterator[Any]:
    """`..`"""
    yield value
    if isinstance(value, (list, dict)):
        for member in members(value):
            yield from descend(member, variables)


def index(base: Filter, key: Filter) -> Filter:
    return lambda value, variables: (
        entry(container, name)
        for container in base(value, variables)
        for name in key(value, variables)
    )


def entry(container: Any, key: Any) -> Any:
    if container is None and (key is None or isinstance(key, (str, int, float))):
        return None
    if isinstance(container, dict) and isinstance(key, str):
        return container.get(key)
    if isinstance(container, list) and kind(key) == "number":
        place = int(key)
        return container[place] if -len(container) <= place < len(container) else None
    raise FilterError(f"cannot index {kind(container)} with {shown(key)}")


def cut(base: Filter, start: Filter, end: Filter) -> Filter:
    def slices(value: Any, variables: Variables) -> Iterator[Any]:
        for container in base(value, variables):
            if container is not None and not isinstance(container, (list, str)):
                raise FilterError(f"cannot slice {shown(container)}")
            for begin, stop in itertools.product(start(value, variables), end(value, variables)):
                yield None if container is None else container[begin:stop]

    return slices


def add(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return right if left is None else left
    if kind(left) != kind(right) or kind(left) == "boolean":
        raise FilterError(f"{shown(left)} and {shown(right)} cannot be added")
    return {**left, **right} if isinstance(left, dict) else left + right


def subtract(left: Any, right: Any) -> Any:
    if isinstance(left, list) and isinstance(right, list):
        return [item for item in left if item not in right]
    _need_numbers(left, right, "subtracted")
    return left - right


def multiply(left: Any, right: Any) -> Any:
    if isinstance(left, dict) and isinstance(right, dict):
        return _merge(left, right)
    if isinstance(left, str) and kind(right) == "number":
        return left * int(right) if right > 0 else None
    _need_numbers(left, right, "multiplied")
    return left * right


def divide(left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        return left.split(right) if right else list(left)
    _need_numbers(left, right, "divided")
    if right == 0:
        raise FilterError(f"{left} cannot be divided by zero")
    return number(left / right)


def modulo(left: Any, right: Any) -> Any:
    _need_numbers(left, right, "divided")
    if int(right) == 0:
        raise FilterError(f"{left} cannot be divided by zero")
    remainder = abs(int(left)) % abs(int(right))
    return remainder if left >= 0 else -remainder


def _need_numbers(left: Any, right: Any, verb: str) -> None:
    if kind(left) != "number" or kind(right) != "number":
        raise FilterError(f"{shown(left)} and {shown(right)} cannot be {verb}")


def _merge(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    members = dict(left)
    for key, value in right.items():
        member = members.get(key)
        deep = isinstance(member, dict) and isinstance(value, dict)
        members[key] = _merge(member or {}, value) if deep else value
    return members


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
    "==": lambda left, right: order(left) == order(right),
    "!=": lambda left, right: order(left) != order(right),
    "<": lambda left, right: order(left) < order(right),
    "<=": lambda left, right: order(left) <= order(right),
    ">": lambda left, right: order(left) > order(right),
    ">=": lambda left, right: order(left) >= order(right),
}
