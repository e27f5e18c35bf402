"""Reports on runs of images: a column for each stance."""

from pathlib import Path

import touche as package
from conftest import ROOT


def test_a_page_has_two_columns_with_addresses_and_grades(tmp_path: Path) -> None:
    run = package.run("minsc", "spot-check/images")
    first = run[0].document
    html = package.report({"mine": run}, "spot-check/images", output=tmp_path / "report").read_text()
    pro = html.index("<h3>1 PRO</h3>")
    con = html.index("<h3>1 CON</h3>")
    pages = ROOT / "corpora" / "spot-check-images" / "images" / first[:3] / first / "pages"
    address = min(pages.glob("*/page-url.txt")).read_text().strip()
    assert html.count("<h3>") == 6
    assert pro < html.index(f"<code>{first}</code>") < html.index(address) < con
    assert all(f"{name}P@10 of each topic" in html for name in ("topicRelevance", "stanceRelevance"))
