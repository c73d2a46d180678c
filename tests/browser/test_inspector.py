"""The inspector in Debian's Chromium: clicks, keys, widths, colours, and words that want to be more than words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")

from inspector_kit import ARGUMENTS, CHROMIUM, open_page, serving  # noqa: E402 - it imports playwright
from inspector_said import HOSTILE  # noqa: E402 - as above
from mnemic.service.access import Keys  # noqa: E402 - as above
from mnemic.store import open_store  # noqa: E402 - as above

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium")
PAGES = ("timeline", "ask", "notes", "graph", "operations", "status")
DONE = "main:not(:has(.waiting)) h1"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("inspector")) as found:
        yield found


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def page(browser, server):
    """The operator's page, which tests share; none of them needs what another left."""
    return watched(open_page(browser, server))


def watched(page):
    """A page that notes what goes wrong in it."""
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("dialog", lambda dialog: (page.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.add_init_script("window.pwned = undefined")
    return page


def go(page, server, address):
    page.goto(f"{server.address}/{address}", wait_until="domcontentloaded")
    page.wait_for_selector(DONE)
    return page


# who is let in -------------------------------------------------------------------------------------------


def test_a_key_opens_and_a_wrong_one_does_not(browser, server):
    page = open_page(browser, server, key=None)
    for address in ("", "timeline?user=ana", "status?user=ana"):
        page.goto(f"{server.address}/{address}")
        assert page.url == f"{server.address}/login"
    page.fill("#key", "mnemic_0123456789abcdef_" + "x" * 43)
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert "unknown, revoked or expired" in page.inner_text("[role=alert]")
    page.fill("#key", server.keys["all"])
    page.keyboard.press("Enter")
    page.wait_for_selector(".people")
    assert page.locator(".person").count() == 5
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/inspector")
    assert server.keys["all"] not in json.dumps(page.context.cookies())
    page.click("text=Log out")
    page.wait_for_url("**/login")
    page.context.add_cookies([cookie])  # kept by somebody, it opens nothing
    page.goto(f"{server.address}/timeline?user=ana")
    assert page.url == f"{server.address}/login"
    page.context.close()


def test_a_form_of_another_site_logs_nobody_in(page, server):
    reply = page.request.post(
        f"{server.address}/login", form={"key": server.keys["all"]}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert (reply.status, "set-cookie" in reply.headers) == (403, False)


def test_a_reader_finds_no_button_that_writes(browser, server):
    page = open_page(browser, server, key="reader")
    go(page, server, "notes?user=ana")
    assert page.locator(".card").count() == 3
    for name in ("Confirm", "Retract", "Approve", "Reject"):
        assert page.get_by_role("button", name=name).count() == 0
    go(page, server, "operations?user=ana")
    assert page.locator(".entry").count() > 0
    assert page.get_by_role("button", name="Undo").count() == 0
    go(page, server, "timeline?user=ana")
    assert page.get_by_role("button", name="Erase").count() == 0
    go(page, server, "")  # without admin, nobody is listed
    assert page.locator(".person").count() == 0
    page.fill("[name=user]", "ana")
    page.keyboard.press("Enter")
    page.wait_for_selector(".talk")
    page.context.close()


def test_another_tenant_sees_its_own_alone(browser, server):
    page = open_page(browser, server, key="other")
    go(page, server, "?choose=1")
    assert page.locator(".person").all_inner_texts() == ["cy"]
    go(page, server, "timeline?user=ana")
    assert "Nothing was said yet" in page.inner_text("main")
    go(page, server, "timeline?user=cy")
    assert "heron" in page.inner_text("main")
    page.context.close()


# what pages show and do ----------------------------------------------------------------------------------


def test_the_timeline_leads_to_the_words(page, server):
    go(page, server, "timeline?user=ana")
    assert page.locator(".session").count() == 2
    page.click(".session:has-text('monday')")
    page.wait_for_selector(".talk h2:has-text('monday')")
    assert page.locator(".words").all_inner_texts() == ["The landlord keeps bees on the roof.", "Is the flat quiet?"]
    assert page.locator(".episode .chip.trace").first.inner_text() == "T1"
    assert page.locator(".talk > .strip .band").count() >= 1
    page.click(".turn .when >> nth=1")
    page.wait_for_selector(".turn.jumped")
    assert page.inner_text(".turn.jumped .words") == "Is the flat quiet?"


def test_a_question_is_answered_with_bars_and_a_drawn_path(page, server):
    go(page, server, "ask?user=ana")
    assert "Ask in plain words" in page.inner_text("main")
    page.fill("[name=q]", "Who keeps bees?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    assert "The landlord keeps bees on the roof." in page.inner_text(".hit >> nth=0")
    assert page.locator(".hit >> nth=0 >> .bars .meter").count() >= 2
    page.wait_for_selector(".path svg text:has-text('bee')")
    assert page.locator(".path svg path").count() > 5
    page.click(".hit >> nth=0 >> text=How it was reached")
    page.click(".hit >> nth=0 >> .stop.kind-cue >> nth=0")
    page.wait_for_selector(".star svg")
    assert "graph?user=ana&cue=" in page.url
    go(page, server, "ask?user=ana&q=zeppelin+xylophone&threshold=9")
    assert "Nothing relevant is in memory" in page.inner_text("main")
    go(page, server, "ask?user=ana&q=bees&top_k=x")
    assert "results is a whole number" in page.inner_text("[role=alert]").lower()


def test_a_neighbour_in_the_drawing_is_a_way_to_go(page, server):
    go(page, server, "graph?user=ana&cue=bee")
    assert page.inner_text("#cue") == "bee"
    page.click(".star svg text:text-is('landlord')")
    page.wait_for_url("**/graph?user=ana&cue=landlord")
    page.wait_for_selector("#cue:text-is('landlord')")


def test_a_note_is_opened_confirmed_retracted_and_that_is_undone(page, server):
    go(page, server, "notes?user=ana&kind=preference")
    card = ".group .card"
    page.click(f"{card} >> text=Sources and history")
    page.wait_for_selector(f"{card} .source mark")
    assert page.inner_text(f"{card} .source mark") == "I love rooibos tea."
    page.click(f"{card} >> button:text-is('Confirm')")
    page.wait_for_selector("text=Confirmed as of today.")
    page.wait_for_function("!document.querySelector('.group .card').textContent.includes('confirmed 3 June 2024')")
    page.click(f"{card} >> button:text-is('Retract')")
    page.wait_for_selector("text=No note is like that.")
    go(page, server, "operations?user=ana&action=RETRACT")
    assert "in the inspector" in page.inner_text(".entry >> nth=0")
    page.click(".entry >> nth=0 >> button:text-is('Undo')")
    page.wait_for_selector("text=is taken back")
    go(page, server, "notes?user=ana&kind=preference")
    assert page.inner_text(f"{card} .note-text") == "I love rooibos tea."


def test_versions_are_compared_word_by_word(page, server):
    go(page, server, "notes?user=ana&note=N1")
    page.wait_for_selector(".version")
    assert page.locator(".version >> nth=0 >> ins").all_inner_texts() == ["Porto", "June"]
    assert page.locator(".version >> nth=0 >> del").all_inner_texts() == ["Lisbon", "May"]


def test_a_proposal_is_rejected(page, server):
    go(page, server, "notes?user=ana")
    page.click(".proposals >> text=Reject")
    page.wait_for_selector(".proposals", state="detached")
    go(page, server, "notes?user=ana&status=retracted")
    assert "Ana rents from a beekeeper." in page.inner_text("main")


def test_a_reader_decides_on_nothing_in_quarantine(browser, server):
    page = open_page(browser, server, key="reader")
    go(page, server, "notes?user=dora")
    assert page.locator("article.status-quarantined").count() >= 2
    for name in ("Release", "Discard", "Restore"):
        assert page.get_by_role("button", name=name).count() == 0
    page.context.close()


def test_what_speaks_to_models_is_shown_released_and_discarded(page, server):
    page.wrong.clear()
    go(page, server, "notes?user=dora")
    suspects = page.locator("article.status-quarantined")
    before = suspects.count()
    assert before >= 2
    told = page.inner_text(".proposals:has(#quarantine)")
    assert HOSTILE[1] in told
    assert HOSTILE[0] in told
    assert page.locator("article.status-quarantined del").count() >= 2  # the words that speak to models are marked
    page.click("[aria-label='Release d3']")
    page.wait_for_selector("text=Released: it is found like any other.")
    page.wait_for_selector("[aria-label='In quarantine: d3']", state="detached")
    page.click("[aria-label='Discard d4']")
    page.wait_for_selector("text=Discarded: it is never found, and stays readable.")
    page.wait_for_selector("[aria-label='In quarantine: d4']", state="detached")
    go(page, server, "ask?user=dora&q=hotels+trains")
    page.wait_for_selector(".hit")
    found = page.inner_text("main")
    assert "3 hotels found" in found
    assert "2 trains found" not in found
    go(page, server, "operations?user=dora&note=d4")
    assert page.locator(".entry").count() >= 1
    assert page.evaluate("window.pwned") is None
    assert page.wrong == []


def test_a_run_is_taken_back_and_that_is_taken_back_too(page, server):
    page.wrong.clear()
    go(page, server, "operations?user=dora&trigger=scripted:reader")
    assert page.locator(".entry").count() == 2
    page.click(".entry >> nth=0 >> button:text-is('Undo run')")
    page.wait_for_selector("text=All of the run is taken back")
    go(page, server, "notes?user=dora&kind=fact")
    assert "owns a" not in page.inner_text("main")
    go(page, server, "operations?user=dora&trigger=undo")
    assert page.locator(".entry").count() == 2
    page.click(".entry >> nth=0 >> button:text-is('Undo run')")
    page.wait_for_selector("text=All of the run is taken back")
    go(page, server, "notes?user=dora&kind=fact")
    assert f"Dora owns a boat. {HOSTILE[7]}" in page.inner_text("main")
    assert page.evaluate("window.pwned") is None
    assert page.wrong == []


def test_an_archived_note_is_restored(page, server):
    go(page, server, "notes?user=dora&kind=fact&status=archived")
    note = page.locator(".group .card:has-text('owns a kite')")
    note.get_by_role("button", name="Restore").click()
    page.wait_for_selector("text=It counts again.")
    go(page, server, "notes?user=dora&kind=fact")
    assert "owns a kite" in page.inner_text("main")


def test_notes_of_another_time_are_shown_and_cannot_be_changed(page, server):
    go(page, server, "notes?user=ana&known_at=2000-01-01")
    assert "No note is like that." in page.inner_text("main")
    go(page, server, "notes?user=ana&as_of=2024-06-10&known_at=2100-01-01")
    assert page.locator(".group .card").count() >= 1
    for name in ("Confirm", "Retract", "Restore"):
        assert page.locator(".group").get_by_role("button", name=name).count() == 0
    assert page.input_value("[name=as_of]") == "2024-06-10"
    assert page.input_value("[name=status]") == "any"
    page.fill("[name=known_at]", "2000-01-01")
    page.click("form.filters button[type=submit]")
    page.wait_for_url("**known_at=2000-01-01**")
    page.wait_for_selector("text=No note is like that.")


def test_what_cannot_be_undone_says_what_stands_in_the_way(page, server):
    go(page, server, "operations?user=ana&note=N1")
    page.click(".entry >> nth=-1 >> button:text-is('Undo')")
    page.wait_for_selector("text=has changed since")


def test_erasing_asks_first(page, server):
    go(page, server, "timeline?user=bo")
    page.click("[aria-label='Erase message x1']")
    page.click("text=Keep it")
    page.wait_for_selector(".dialog", state="hidden")
    page.click("[aria-label='Erase message x1']")
    page.click(".dialog .danger")
    page.wait_for_selector("text=Nothing was said yet.")


def test_a_key_that_is_revoked_meanwhile_does_nothing_more(browser, server):
    page = open_page(browser, server, key="writer")
    go(page, server, "notes?user=ana&kind=fact")
    store = open_store(server.folder / "inspector.db")
    ids = json.loads(Path(server.folder / "ids.json").read_text(encoding="utf-8"))
    Keys(store).revoke(ids["writer"])
    store.close()
    page.click(".group .card >> button:text-is('Confirm')")
    page.wait_for_selector("text=unknown, revoked or expired")
    page.goto(f"{server.address}/notes?user=ana")
    assert page.url == f"{server.address}/login"
    page.context.close()


def test_where_no_key_is_asked_for_nobody_logs_in(browser, tmp_path):
    with serving(tmp_path, open_to_all=True) as server:
        page = open_page(browser, server, key=None)
        go(page, server, "login")
        assert page.url == f"{server.address}/"
        go(page, server, "notes?user=ana&kind=preference")
        assert page.get_by_role("button", name="Confirm").count() == 1
        assert page.get_by_text("Log out").count() == 0
        elsewhere = page.request.get(f"{server.address}/notes?user=ana", headers={"Origin": "http://elsewhere"})
        assert elsewhere.status == 403
        page.context.close()


# by hand, by eye -----------------------------------------------------------------------------------------


def test_a_page_is_walked_by_keyboard(page, server):
    go(page, server, "status?user=ana")
    names = []
    for _ in range(11):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.textContent"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", names
    assert names[0] == "Skip to content"
    assert names[-6:] == ["Timeline", "Ask", "Notes", "Graph", "Operations", "Status"]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/operations?user=ana")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone(browser, server, name, phone):
    go(phone, server, f"{name}?user=ana&q=bees&session=monday")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.fixture(scope="module")
def phone(browser, server):
    return open_page(browser, server, width=390, height=844)


def test_colours_follow_the_system_and_what_a_person_chose(browser, server):
    page = open_page(browser, server, dark=True)
    dark = "getComputedStyle(document.body).backgroundColor"
    go(page, server, "status?user=ana")
    page.wait_for_function(f"{dark} === 'rgb(19, 22, 28)'")
    page.click("[aria-label='Colours: auto']")
    page.wait_for_function(f"{dark} === 'rgb(245, 245, 241)'")
    go(page, server, "status?user=ana")
    page.wait_for_function(f"{dark} === 'rgb(245, 245, 241)'")
    page.context.close()


# what wants to be more than words ------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_no_stored_word_runs_anywhere(page, server, name):
    page.wrong.clear()
    session = quote(HOSTILE[0], safe="")
    for address in (
        f"{name}?user=mallory&status=any&session={session}&q={session}",
        f"{name}?user={session}&session={session}&q={quote(HOSTILE[4], safe='')}&note={session}&cue={session}",
    ):
        go(page, server, address)
        for more in page.get_by_role("button", name="Sources and history").all()[:3]:
            more.click()
            page.wait_for_selector(".source")
        assert page.evaluate("window.pwned") is None
        assert page.locator("main script, main img, main iframe, main [onerror], main [onload]").count() == 0
        hrefs = page.eval_on_selector_all("a[href]", "all => all.map(one => one.protocol)")
        assert set(hrefs) <= {"http:"}
    assert page.wrong == []
    if name == "timeline":
        go(page, server, f"timeline?user=mallory&session={session}")
        assert HOSTILE[0] in page.inner_text("main")


def test_nothing_asks_another_host_and_every_reply_says_so(page, server):
    hosts = {re.split(r"[/?]", url.partition("://")[2])[0] for url in server.asked if "://" in url}
    assert hosts == {server.address.split("/")[2]}
    assert {url.partition(":")[0] for url in server.asked} <= {"http", "ws", "about", "data"}
    reply = page.request.get(f"{server.address}/timeline?user=ana")
    assert "default-src 'self'" in reply.headers["content-security-policy"]
    assert reply.headers["cache-control"] == "no-store"


def test_nothing_is_left_on_disk_but_the_database(server):
    left = {path.name for path in server.folder.rglob("*")}
    assert left <= {"inspector.db", "inspector.db-wal", "inspector.db-shm", "server.log", "keys.json", "ids.json"}
    log = (server.folder / "server.log").read_text(encoding="utf-8")
    assert "bees" not in log
    assert "Traceback" not in log


def test_the_server_speaks_to_nobody_else(server):
    """Of all its sockets, none leads to another machine."""
    tables = [Path(f"/proc/{server.process.pid}/net/{name}").read_text(encoding="utf-8") for name in ("tcp", "udp")]
    inodes = {
        found[1]
        for entry in Path(f"/proc/{server.process.pid}/fd").iterdir()
        if (found := re.fullmatch(r"socket:\[(\d+)\]", str(entry.readlink())))
    }
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    mine = [row for row in rows if row[9] in inodes]
    assert mine
    assert {row[2].partition(":")[0] for row in mine} <= {"0100007F", "00000000"}
