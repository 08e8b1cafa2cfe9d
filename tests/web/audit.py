"""Checks of one screen that need no eyes: names, contrast, overlaps, and what Tab reaches."""

from __future__ import annotations

from playwright.async_api import Page

# Controls without a name that a screen reader could say.
UNNAMED = """() => {
  const named = (e) => (e.ariaLabel || e.labels?.[0]?.innerText || e.innerText || e.title
    || e.getAttribute('aria-label') || e.closest('label')?.innerText || '').trim();
  return [...document.querySelectorAll('button, a[href], input, select, textarea, [role=tab]')]
    .filter((e) => e.checkVisibility() && !named(e)).map((e) => e.outerHTML.slice(0, 160));
}"""

# Texts whose contrast with what is behind them is below 4.5 (3 for large ones).
PALE = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement)
      layers.push(rgba(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest('svg, :disabled')) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const wanted = size >= 24 || (size >= 18.6 && style.fontWeight >= 700) ? 3 : 4.5;
    const ground = behind(element);
    const seen = ratio(over(rgba(style.color), ground), ground);
    const where = `${text.slice(0, 40)} (${element.className})`;
    if (seen < wanted) found.push(`${seen.toFixed(2)}: ${where}`);
  }
  return found;
}"""

# Elements that make the page scroll sideways.
WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll('body *')]
    .filter((e) => e.getBoundingClientRect().right > width + 1).slice(0, 5)
    .map((e) => e.outerHTML.slice(0, 160));
}"""

# Key hints that lie over where a field's text goes.
COVERED = """() => [...document.querySelectorAll('.search kbd')]
  .filter((hint) => {
    const field = hint.parentElement.querySelector('input');
    const room = parseFloat(getComputedStyle(field).paddingRight);
    return hint.getBoundingClientRect().left < field.getBoundingClientRect().right - room;
  })
  .map((hint) => hint.parentElement.outerHTML.slice(0, 300))"""

# Marks piled upon one letter, which reach into other lines.
PILED = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (/\\p{M}{5}/u.test(walker.currentNode.textContent) && element.checkVisibility())
      found.push(element.parentElement.outerHTML.slice(0, 160));
  }
  return found;
}"""

SHIFT = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(sum), 50);
})"""


async def faults(page: Page) -> list[str]:
    """What is wrong with the screen that is shown."""
    found: list[str] = []
    checks = {"no name": UNNAMED, "pale": PALE, "too wide": WIDE, "covered": COVERED}
    for what, script in checks.items():
        found += [f"{what}: {one}" for one in await page.evaluate(script)]
    return found


async def reached_by_tab(page: Page, most: int = 200) -> list[str]:
    """The names of what Tab reaches, in order, until it comes round."""
    names: list[str] = []
    for _ in range(most):
        await page.keyboard.press("Tab")
        name = await page.evaluate(
            "() => { const e = document.activeElement; return e === document.body ? '' : "
            "(e.ariaLabel || e.innerText || e.labels?.[0]?.innerText || e.title || e.tagName)"
            ".trim().split('\\n')[0] }"
        )
        if not name or (names and name == names[0] and len(names) > 3):
            break
        names.append(name)
    return names
