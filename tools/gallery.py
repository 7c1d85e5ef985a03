"""docs/explanation/gallery.md: every scenario with its question, its numbers and its picture.

python -m tools.gallery [--only TEXT]

Plays the scenarios (some minutes), writes one small picture each under docs/images/gallery/ and the
page around them. Run it when a scenario or the decision changes; the same code and seeds give the
same bytes.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from autoscaler.report import write_png
from autoscaler.simulator.asking import Asked, ask
from autoscaler.simulator.pictures import report_of
from autoscaler.simulator.reading import read_questions

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "gallery.md"
IMAGES = ROOT / "docs" / "images" / "gallery"

HEAD = """# Gallery: questions put to the simulator

Made by `python -m tools.gallery` from `simulations/*.yaml`; see [how a run is
scored](plain-world.md). Above everyone stands an HPA at 90 %. Late is the share of requests that
waited longer than promised; 1.00 is the clairvoyant's score.
"""


def section(asked: Asked) -> str:
    """Write one scenario: question, runs, claims, picture."""
    lines = [f"\n## {asked.name}\n", asked.scenario.question.strip(), ""]
    lines += ["| run | score | cost | late | starts |", "|---|---|---|---|---|"]
    for run in asked.simulated.runs:
        account = run.account
        lines.append(
            f"| {run.name} | {account.score:.2f} | {account.cost_ratio:.2f} "
            f"| {account.late_fraction:.2%} | {account.replicas_started} |"
        )
    lines.append("")
    for verdict in asked.verdicts:
        sign = "holds" if verdict.holds else "**fails**"
        lines.append(f"- {sign}: `{verdict.claim}` ({verdict.found})")
    lines.append(f"\n![{asked.name}](../images/gallery/{asked.name}.png)\n")
    return "\n".join(lines)


def draw(asked: Asked) -> None:
    """Write the picture of the replicas alone: need, floor, who was ready."""
    report = report_of(asked.simulated, asked.traffic)
    write_png(replace(report, charts=report.charts[1:2]), IMAGES / f"{asked.name}.png")


def main(argv: list[str]) -> int:
    """Play all scenarios; 1 when a claim fails."""
    parser = argparse.ArgumentParser(prog="tools.gallery", description=__doc__)
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    given = parser.parse_args(argv)
    IMAGES.mkdir(parents=True, exist_ok=True)
    sections, failed = [], False
    for question in read_questions(ROOT / "simulations"):
        if given.only not in question.name:
            continue
        began = time.process_time()
        asked = ask(question)
        spent = time.process_time() - began
        draw(asked)
        sections.append(section(asked))
        failed |= not asked.holds
        print(f"{asked.name}: {'holds' if asked.holds else 'FAILS'}, {spent:.1f} CPU s", flush=True)
    if not given.only:
        PAGE.write_text(HEAD + "".join(sections), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
