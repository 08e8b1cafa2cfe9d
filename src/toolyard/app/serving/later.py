"""A Responder that is made, and its modules imported, when it is first asked: most never are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

from toolyard.http.request import Request
from toolyard.http.response import Responder, Response

MadeT = TypeVar("MadeT", bound=Responder)


class Later(Generic[MadeT]):
    def __init__(self, make: Callable[[], MadeT]) -> None:
        self._make = make

    @cached_property
    def responder(self) -> MadeT:
        return self._make()

    @property
    def is_made(self) -> bool:
        return "responder" in self.__dict__

    async def __call__(self, request: Request, response: Response) -> None:
        await self.responder(request, response)
