"""Load every page of the site in headless Chromium, from files, on a phone and on a desk.

    make site-check            or: python -m benchmarks.site_check [--pictures FOLDER] [PAGE…]

A page may be any file in .html, such as that of ``--report``.

Needs what is not installed by itself: ``pip install selenium axe-core-python``, and Chromium with
its driver (Debian: ``apt-get install chromium chromium-driver``). Told are, with exit status 1,

- whatever a page asks of the network, and whatever of it is missing;
- errors in the console of the browser;
- text whose contrast is below WCAG AA (axe-core, rule ``color-contrast``), light and dark, one of
  those that look alike on a page;
- pages that are wider than the screen.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "_build" / "html"
SCREENS = ((360, "light"), (1280, "light"), (1280, "dark"))  # width in pixels, colours
HEIGHT = 900  # of the pictures
SECONDS = 60  # of one page
_LOADED = "return performance.getEntriesByType('resource').map(entry => entry.name)"
_WIDE = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
_RULES = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "resultTypes": ["violations"]}
# Contrast hangs on colours, backgrounds, size and weight. A page has few of these and thousands of
# texts, of each of which axe takes milliseconds: so of texts that are alike it gets the first.
_MARK = """
const alike = new Map(), behind = new Map();
const backgrounds = (element) => {
  if (!element) return '';
  if (!behind.has(element)) {
    const style = getComputedStyle(element), own = style.backgroundColor + style.backgroundImage;
    const seen = own === 'rgba(0, 0, 0, 0)none' && style.opacity === '1' ? '' : own + style.opacity;
    behind.set(element, backgrounds(element.parentElement) + seen);
  }
  return behind.get(element);
};
let texts = 0;
for (const element of document.body.querySelectorAll('*')) {
  const written = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!written || !element.checkVisibility()) continue;
  texts += 1;
  const style = getComputedStyle(element);
  const look = [style.color, style.fontSize, style.fontWeight, backgrounds(element)].join('|');
  if (!alike.has(look)) alike.set(look, element);
}
for (const element of alike.values()) element.setAttribute('data-contrast', '');
return [texts, alike.size];
"""
_MARKED = {"include": [["[data-contrast]"]]}


def open_browser() -> Any:
    """Return a driver of headless Chromium that reaches nothing but files."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for switch in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "host-resolver-rules=MAP * ~NOTFOUND",
    ):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.set_script_timeout(SECONDS)
    return driver


def faults(driver: Any, page: Path, width: int, scheme: str, picture: Path | None) -> list[str]:
    """Return what is wrong with a page, a line each."""
    from axe_core_python.selenium import Axe

    metrics = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    preferred = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": preferred})
    driver.get(page.as_uri())
    found = [
        f"console: {entry['message']}"
        for entry in driver.get_log("browser")
        if entry["level"] in ("SEVERE", "WARNING")
    ]
    found += [
        f"network: {name}"
        for name in driver.execute_script(_LOADED)
        if not name.startswith(("file:", "data:"))
    ]
    if picture is not None:
        driver.save_screenshot(str(picture))
    if (wider := driver.execute_script(_WIDE)) > 0:
        found.append(f"{wider} pixels wider than the screen")
    if width < max(SCREENS)[0]:  # colours are the same at any width
        return found
    driver.execute_script(_MARK)
    for violation in Axe().run(driver, _MARKED, _RULES)["violations"]:
        found += [
            f"contrast: {node['html'][:80]} {node['any'][0]['message'][:120]}"
            for node in violation["nodes"]
        ]
    return found


def main() -> None:
    """Check the pages, and tell."""
    parser = argparse.ArgumentParser(description="Load every page of the site in Chromium.")
    parser.add_argument("page", nargs="*", type=Path, help="all by default")
    parser.add_argument("--pictures", type=Path, help="folder for a picture of each page")
    asked = parser.parse_args()
    pages = [page.resolve() for page in asked.page] or sorted(SITE.rglob("*.html"))
    if not pages:
        raise SystemExit(f"no pages in {SITE}; make docs first")
    if asked.pictures:
        asked.pictures.mkdir(parents=True, exist_ok=True)
    started, wrong = time.perf_counter(), 0
    driver = open_browser()
    try:
        for page in pages:
            name = page.relative_to(SITE) if page.is_relative_to(SITE) else Path(page.name)
            for width, scheme in SCREENS:
                drawn = f"{str(name).replace('/', '-')}-{width}-{scheme}.png"
                picture = asked.pictures / drawn if asked.pictures else None
                for fault in faults(driver, page, width, scheme, picture):
                    wrong += 1
                    print(f"{name} at {width}, {scheme}: {fault}", flush=True)
    finally:
        driver.quit()
    seconds = time.perf_counter() - started
    print(f"{len(pages)} pages, {len(SCREENS)} screens: {wrong} faults, {seconds:.0f} s")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
