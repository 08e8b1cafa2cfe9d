"""The API's routes for the registry files: show, check, save."""

from __future__ import annotations

import asyncio

from toolyard.configuration.objects import published
from toolyard.protocol.call import Json, JsonObject
from toolyard.web.editing.entries import EntryEdit, with_entry
from toolyard.web.editing.registries import (
    Draft,
    RegistryFile,
    Stale,
    changed,
    effect,
    find,
    shown,
    stamp,
)
from toolyard.web.editing.samples import tried_on
from toolyard.web.editing.sections import SECTIONS, RefusedEdit, sections
from toolyard.web.routes.request import ApiRefusal, Ask
from toolyard.web.window import Window

STALE = "the file has changed since it was read: reload it"


class RegistryRoutes:
    """Shows the registry files, checks changes to them, and saves them."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def show(self, ask: Ask) -> None:
        files = self._window.registries()
        read_only = self._window.read_only
        try:
            views = [await asyncio.to_thread(shown, file, read_only) for file in files]
        except OSError as error:
            raise ApiRefusal(500, f"the file cannot be read: {error.strerror}") from None
        await ask.answer({"files": views})

    async def schema(self, ask: Ask) -> None:
        """The JSON Schema of a registry file, for whoever edits one."""
        await ask.answer(published("registry"))

    async def check(self, ask: Ask) -> None:
        """What a change would do: `sections` as text, or one `entry` by its fields."""
        body = await ask.json()
        file = self._file(body)
        if "entry" in body:
            body["sections"] = {"tools": await self._shaped(file, body["entry"])}
        draft = await self._draft(file, body)
        sample = await asyncio.to_thread(tried_on, body.get("sample"), draft.catalog)
        report = {**self._report(draft), "sections": body["sections"]}
        await ask.answer({**report, "sample": sample} if sample is not None else report)

    async def _shaped(self, file: RegistryFile, entry: Json) -> str:
        try:
            text = await asyncio.to_thread(file.read)
            return with_entry(sections(text)["tools"].text, EntryEdit.read(entry))
        except RefusedEdit as refused:
            raise ApiRefusal(422, refused.message, section=refused.section) from None
        except ValueError as error:
            raise ApiRefusal(422, f"the file is not JSON: {error}") from None

    async def save(self, ask: Ask) -> None:
        if self._window.read_only:
            raise ApiRefusal(403, "the page is read-only (the setting page_read_only is on)")
        body = await ask.json()
        file = self._file(body)
        seen_stamp = str(body.get("stamp"))
        if stamp(await asyncio.to_thread(file.read)) != seen_stamp:
            raise ApiRefusal(409, STALE)
        draft = await self._draft(file, body)
        if draft.spoils:
            raise ApiRefusal(422, "the change has a mistake in it: nothing was saved")
        try:
            await asyncio.to_thread(file.save, draft.text, seen_stamp)
        except Stale:
            raise ApiRefusal(409, STALE) from None
        except OSError as error:
            raise ApiRefusal(500, f"the file cannot be written: {error.strerror}") from None
        await ask.answer({"stamp": stamp(draft.text)})

    def _file(self, body: JsonObject) -> RegistryFile:
        file = find(self._window.registries(), body.get("path"))
        if file is None:
            raise ApiRefusal(404, "no such registry file is served")
        return file

    async def _draft(self, file: RegistryFile, body: JsonObject) -> Draft:
        parts = body.get("sections")
        if not isinstance(parts, dict) or not all(map(_is_part, parts.items())):
            raise ApiRefusal(400, "sections must be an object with the texts of tools and schemas")
        try:
            return await asyncio.to_thread(changed, file, parts)
        except RefusedEdit as refused:
            raise ApiRefusal(422, refused.message, section=refused.section) from None
        except ValueError as error:
            raise ApiRefusal(422, f"the file is not JSON: {error}") from None

    def _report(self, draft: Draft) -> JsonObject:
        if draft.catalog is None:
            return {"problems": draft.problems, "changes": [], "warnings": []}
        now = self._window.catalog()
        return {
            "problems": draft.problems,
            "changes": effect(now, draft.catalog),
            "warnings": [
                warning for warning in draft.catalog.warnings if warning not in now.warnings
            ],
        }


def _is_part(item: tuple[str, Json]) -> bool:
    return item[0] in SECTIONS and isinstance(item[1], str)
