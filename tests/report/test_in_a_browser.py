"""The report in a real Chromium: zoom, hover, switches, both themes, desk and phone, print."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoscaler.report import Report, Table, write_html
from tests.report.making import report

sync_api = pytest.importorskip("playwright.sync_api", reason="install the group `browser`")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHROMIUM = os.environ.get("FORETIDE_CHROMIUM") or shutil.which("chromium") or ""
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
PATIENCE = 180_000  # milliseconds until what a busy machine is slow at counts as missing
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("no Chromium: install it or set FORETIDE_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM, args=list(FLAGS), headless=True, timeout=PATIENCE
        )
        yield running
        running.close()


@pytest.fixture(params=SIZES)
def opened(browser: Any, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """The report from disk; anything that the browser complains about fails the test."""
    path = tmp_path / "report.html"
    write_html(report(), path)
    width, height = SIZES[request.param]
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda m: complaints.append(m.text) if m.type != "log" else None)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda r: requests.append(r.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready]")
    yield tab
    context.close()
    assert complaints == []
    assert requests == [path.as_uri()]


def axis_of(tab: Any, index: int = 0) -> list[float]:
    """Time range that a chart shows, in seconds."""
    shown: list[float] = tab.evaluate(
        "i => { const f = document.querySelectorAll('figure')[i];"
        " return [Number(f.dataset.from), Number(f.dataset.to)]; }",
        index,
    )
    return shown


def test_it_fits_the_screen(opened: Any) -> None:
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.locator("canvas").count() == 2


def test_drag_zooms_all_charts_and_double_click_shows_all_again(opened: Any) -> None:
    whole = axis_of(opened)
    over = opened.locator(".u-over").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    y = box["y"] + box["height"] / 2
    opened.mouse.move(box["x"] + box["width"] * 0.25, y)
    opened.mouse.down()
    opened.mouse.move(box["x"] + box["width"] * 0.5, y, steps=5)
    opened.mouse.up()
    opened.wait_for_function("n => document.querySelector('figure').dataset.from > n", arg=whole[0])
    zoomed = axis_of(opened)
    span = whole[1] - whole[0]
    assert zoomed[0] == pytest.approx(whole[0] + 0.25 * span, abs=0.02 * span)
    assert zoomed[1] == pytest.approx(whole[0] + 0.5 * span, abs=0.02 * span)
    opened.wait_for_function(
        "n => document.querySelectorAll('figure')[1].dataset.from == n", arg=str(zoomed[0])
    )
    over.dblclick()
    opened.wait_for_function(
        "n => document.querySelector('figure').dataset.from == n", arg=str(whole[0])
    )


def test_buttons_zoom_and_shift(opened: Any) -> None:
    whole = axis_of(opened)
    opened.get_by_role("button", name="Zoom in").click()
    opened.wait_for_function("n => document.querySelector('figure').dataset.from > n", arg=whole[0])
    inner = axis_of(opened)
    assert inner[1] - inner[0] == pytest.approx((whole[1] - whole[0]) / 2)
    opened.get_by_role("button", name="Later").click()
    opened.wait_for_function("n => document.querySelector('figure').dataset.from > n", arg=inner[0])
    opened.get_by_role("button", name="See everything").click()
    opened.wait_for_function(
        "n => document.querySelector('figure').dataset.from == n", arg=str(whole[0])
    )


def test_hover_tells_values_and_the_reason_of_the_change(opened: Any) -> None:
    over = opened.locator(".u-over").nth(1)
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    opened.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
    tip = opened.locator(".tip").nth(1)
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert "P95 needs 18 at 20:30" in text
    assert "need" in text
    edge = tip.bounding_box()
    assert edge["x"] >= 0
    assert edge["x"] + edge["width"] <= opened.viewport_size["width"]


def test_a_run_is_switched_off_and_on_everywhere(opened: Any) -> None:
    run = opened.locator(".tools .switch", has_text="HPA alone")
    own = opened.locator("figcaption .switch", has_text="HPA alone: floor")
    before = opened.locator("canvas").nth(1).screenshot()
    run.click()
    assert run.get_attribute("aria-pressed") == "false"
    assert own.get_attribute("aria-pressed") == "false"
    assert opened.locator("canvas").nth(1).screenshot() != before
    run.click()
    assert own.get_attribute("aria-pressed") == "true"


def test_a_series_is_switched_off(opened: Any) -> None:
    own = opened.locator("figcaption .switch", has_text="forecast P50–P95")
    before = opened.locator("canvas").first.screenshot()
    own.click()
    assert own.get_attribute("aria-pressed") == "false"
    assert opened.locator("canvas").first.screenshot() != before


def test_dark_and_light(opened: Any) -> None:
    light = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.get_by_role("button", name="Light or dark").click()
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") != light
    opened.emulate_media(color_scheme="dark")
    opened.get_by_role("button", name="Light or dark").click()
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == light


PAPER = {"format": "A4", "margin": dict.fromkeys(("top", "right", "bottom", "left"), "12mm")}
ON_PAPER = 703  # pixels between these margins


def wide() -> Report:
    """Two charts, a table longer than a page and one with more columns than a screen shows."""
    given = report()
    columns = ("run", *(f"{margin:.1f} ×" for margin in (0.6, 0.8, 1, 1.2, 1.5, 2, 3, 4, 5, 6, 7)))
    row = ("phpa-holt-winters-ordered tuned", *("1.08 / 19.18%",) * (len(columns) - 1))
    long = Table(title="Long", columns=columns, rows=(row,) * 25, strong=0, note="What it says.")
    return replace(given, tables=(*given.tables, long))


def test_it_prints(opened: Any) -> None:
    opened.emulate_media(media="print")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not opened.locator(".tools").is_visible()
    assert opened.evaluate("document.querySelector('.uplot').offsetWidth") <= 700
    assert len(opened.pdf(**PAPER)) > 10_000


def test_on_paper_nothing_is_cut_off_and_no_page_stays_empty(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html(wide(), path)
    tab = browser.new_page(viewport={"width": ON_PAPER, "height": 1000})
    tab.set_default_timeout(PATIENCE)
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready]")
    tab.emulate_media(media="print", color_scheme="dark")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    # what the sections hold lies within them: paper does not scroll
    assert tab.evaluate(
        "[...document.querySelectorAll('section, figure')].every(s => [...s.querySelectorAll("
        "'table, .uplot')].every(t => t.getBoundingClientRect().right"
        " <= s.getBoundingClientRect().right))"
    )
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # colours of the legend are printed though a printer leaves backgrounds out
    swatch = "getComputedStyle(document.querySelector('.switch i')).printColorAdjust"
    assert tab.evaluate(swatch) == "exact"
    # black on white although the screen was dark
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    pages = len(re.findall(rb"/Type\s*/Page\b", tab.pdf(**PAPER)))
    # a page and a half of tables, two charts and the facts: none begins on a page of its own
    assert pages <= 3
    tab.close()


def test_on_a_phone_a_reason_wraps_instead_of_being_cut_off(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    changes = Table(
        title="When the floor changes, and why",
        columns=("time", "floor", "why"),
        rows=(("Mon 30 Nov 16:48", "10 → 11", "32.2/s expected at 01:00 (event launch) need 11"),),
        sentences=(2,),
    )
    write_html(replace(report(), tables=(changes,)), path)
    width, height = SIZES["phone"]
    tab = browser.new_page(viewport={"width": width, "height": height})
    tab.set_default_timeout(PATIENCE)
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready]")
    assert tab.evaluate(
        "[...document.querySelectorAll('.scroll')].every(s => s.scrollWidth <= s.clientWidth)"
    )
    tab.close()
