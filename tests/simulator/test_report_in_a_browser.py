"""A simulation's report in a real Chromium, at desk and phone width: zoom, hover, switch."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

from autoscaler.report import write_html
from autoscaler.simulator.peers import chosen
from autoscaler.simulator.pictures import report_of
from autoscaler.simulator.production import default_policy
from autoscaler.simulator.runs import best_run, play
from autoscaler.simulator.simulation import Simulated
from autoscaler.world.tides import Tide, make_tide

sync_api = pytest.importorskip("playwright.sync_api", reason="install the group `browser`")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATIENCE = 180_000  # milliseconds until what a busy machine is slow at counts as missing
CHROMIUM = os.environ.get("FORETIDE_CHROMIUM") or shutil.which("chromium") or ""


@pytest.fixture
def page(world_of, tmp_path):
    """The report of three peers, the first of them in the place of ours."""
    world = world_of(make_tide(Tide(peak=30.0), 5, seed=1), 2, capacity=3.0)
    best = best_run(world)
    reference = best.account.cost(world.service)
    ours, hpa, day = (play(world, peer, reference) for peer in chosen("aws,hpa,day-ago"))
    steps = len(world.run_demand)
    ours = replace(
        ours,
        name="foretide",
        expected=np.stack([world.run_demand, world.run_demand * 1.2]),
        changes=((steps // 3, "floor 2 → 5: the tide comes at nine"),),
    )
    runs = [ours, hpa, day]
    simulated = Simulated(
        policy=default_policy(world),
        world=world,
        best=best,
        runs=runs,
        intervals={run.name: None for run in runs},
    )
    path = tmp_path / "report.html"
    write_html(report_of(simulated, "a tide"), path)
    return path


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium: install it or set FORETIDE_CHROMIUM")
@pytest.mark.parametrize("width", [1280, 390])
def test_zoom_hover_and_switch_without_a_complaint(page, width):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu"],
            headless=True,
            timeout=PATIENCE,
        )
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.set_default_timeout(PATIENCE)
        complaints = []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-ready]")
        assert tab.locator("canvas").count() == 3
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # hover over the change of the floor
        over = tab.locator(".u-over").nth(1)
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        tab.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 2)
        tip = tab.locator(".tip").nth(1)
        tip.wait_for(state="visible")
        assert "the tide comes at nine" in tip.inner_text()
        # a peer that starts switched off comes on in every chart
        day = tab.locator(".tools .switch", has_text="day-ago")
        assert day.get_attribute("aria-pressed") == "false"
        before = over.page.locator("canvas").nth(1).screenshot()
        day.click()
        assert day.get_attribute("aria-pressed") == "true"
        assert tab.locator("canvas").nth(1).screenshot() != before
        # zoom into a day
        tab.get_by_role("button", name="Zoom in").click()
        tab.wait_for_function(
            "() => { const f = document.querySelector('figure').dataset;"
            " return f.to - f.from < 2 * 86400; }"
        )
        assert complaints == []
        browser.close()
