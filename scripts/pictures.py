"""Make the pictures of the page in docs/pictures, from the running program.

    .venv/bin/python scripts/pictures.py

A film of how a tool is shaped (`shape-1.png` and so on), and the page in light and dark
(`page-light.png`, `page-dark.png`). Needs `chromium` and the built page.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.async_api import Browser, Page, expect  # noqa: E402

from tests.web.browser import Scheme, chromium, show, window  # noqa: E402
from tests.web.gateway import Opened, opened  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
SIZE = (1280, 860)


def yard_in(folder: Path) -> Path:
    project = folder / "yard"
    shutil.copytree(ROOT / "examples" / "demo", project)
    station = ROOT / "examples" / "showcase" / "tools" / "station"
    shutil.copytree(station, project / "tools" / "station")
    (project / "registry.json").write_text('{\n  "tools": []\n}\n')
    return project


async def picture(page: Page, name: str) -> None:
    await page.screenshot(path=PICTURES / f"{name}.png")
    print(PICTURES / f"{name}.png")


async def film(page: Page) -> None:
    """From a tool with a page of JSON to one with three fields, without typing JSON."""
    await show(page, "#/explore/tools/station?part=shape")
    await page.get_by_label("Name", exact=True).fill("weather")
    await page.get_by_label("Title", exact=True).fill("Weather")
    await page.get_by_label("Description", exact=True).fill("The weather in a city")
    await page.get_by_label("New name of city", exact=True).fill("place")
    await fix(page, "units")
    units = page.get_by_role("region", name="Argument units")
    await units.get_by_role("combobox").select_option("metric")
    await fix(page, "apiKey")
    await page.get_by_role("region", name="Argument apiKey").get_by_role("textbox").fill("demo")
    new = page.locator(".diff-side.new")
    await expect(new.filter(has_text='"place"').first).to_be_visible()
    await picture(page, "shape-1")
    sample = page.get_by_role("region", name="Get a real result")
    await sample.get_by_label("city required").fill("Oslo")
    await sample.get_by_label("units required").select_option("metric")
    await sample.get_by_label("apiKey required").fill("demo")
    await page.get_by_role("button", name="Run for a real result").click()
    await page.get_by_label("Hand on $.station.city").check()
    await picture(page, "shape-2")
    await page.get_by_label("Hand on $.readings.temperature.value").check()
    name = page.get_by_label("Name for $.readings.temperature.value")
    await name.fill("celsius")
    await page.get_by_role("tab", name="What they get").click()
    await expect(page.locator(".shape-preview")).to_contain_text("celsius")
    await picture(page, "shape-3")
    await page.get_by_role("tab", name="The file").click()
    await expect(page.locator(".diff-side.new").first).to_be_visible()
    await picture(page, "shape-4")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", name="weather", level=1)).to_be_visible()
    await show(page, "#/explore/tools/weather?part=definition")
    await expect(page.locator(".diff-side.new").first).to_be_visible()
    await picture(page, "shape-5")


async def fix(page: Page, argument: str) -> None:
    group = page.get_by_role("group", name=f"What becomes of {argument}")
    await group.get_by_role("button", name="fixed", exact=True).click()


async def portrait(browser: Browser, yard: Opened, scheme: Scheme) -> None:
    async with window(browser, yard.link, scheme=scheme, size=SIZE) as page:
        await show(page, "#/explore/tools/weather")
        await page.get_by_label("place required").fill("Oslo")
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".result")).to_contain_text("celsius")
        await picture(page, f"page-{scheme}")


async def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="toolyard-pictures-") as folder:
        async with opened(project=yard_in(Path(folder))) as yard, chromium() as browser:
            async with window(browser, yard.link, size=SIZE) as page:
                await film(page)
            await portrait(browser, yard, "light")
            await portrait(browser, yard, "dark")


if __name__ == "__main__":
    asyncio.run(main())
