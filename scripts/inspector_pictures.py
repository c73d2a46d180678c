"""Takes the pictures of docs/inspector/: each page of the inspector with the demo's memory, light, dark and on a phone.

    python scripts/inspector_pictures.py            needs the extra ``server``, playwright, and Debian's chromium

The demo's dialogue is put into a memory of its own, with a few notes of a scripted model, a proposal and a correction,
so that every page has something to show. Nothing outside this machine is asked.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from inspector_kit import ARGUMENTS, CHROMIUM, Server, open_page, serving

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "inspector"
QUESTION = "Which instrument does the woman who lends Viktor her kiln play?"
PAGES = {
    "timeline": "timeline?user=demo&session=s2",
    "ask": f"ask?user=demo&q={QUESTION.replace(' ', '+')}",
    "notes": "notes?user=demo&status=any&about=Noor",
    "graph": "graph?user=demo&cue=kiln",
    "operations": "operations?user=demo",
    "status": "status?user=demo",
}
SIZES = {"light": (1280, 900), "dark": (1280, 900), "phone": (390, 844)}
COLOURS = 256


def main(wanted: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    looks, names = ([one for one in wanted if one in given] or list(given) for given in (SIZES, PAGES))
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), demo=True) as server, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for look in looks:
            width, height = SIZES[look]
            page = open_page(browser, server, width=width, height=height, dark=look == "dark")
            for name in names:
                take(page, server, PAGES[name], FOLDER / f"{name}-{look}.png")
            page.context.close()
        browser.close()


def take(page: Page, server: Server, address: str, file: Path) -> None:
    page.goto(f"{server.address}/{address}", wait_until="domcontentloaded")
    page.wait_for_selector("main:not(:has(.waiting)) h1")
    if "notes" in address:
        page.get_by_role("button", name="Sources and history").first.click()
        page.wait_for_selector(".source")
    page.wait_for_timeout(700)  # the drawing
    page.screenshot(path=file)
    with Image.open(file) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
