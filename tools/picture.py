"""`python -m tools.picture`: the README's picture from the last demo, in few colours."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "demo-report" / "report.png"
PICTURE = ROOT / "docs" / "images" / "demo.png"
COLOURS = 64


def main() -> None:
    """Read the report's picture, and write it where the README shows it."""
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(SOURCE) as picture:
        picture.convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
    print(f"wrote {PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
