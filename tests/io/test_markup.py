"""Tables in Markdown, LaTeX and HTML: texts survive their escaping."""

import xml.etree.ElementTree as ET
from html import escape

from touche.io.markup import html_table, latex_table, latex_text, markdown_table, markdown_text

ODD = "a_b|c&d<b>"


def test_html_has_the_texts_of_the_cells_and_its_notes() -> None:
    rows = [[escape(ODD), "1.5"]]
    text = html_table(["run", escape("<x>")], rows, [False, True], ["p < 0.05", ""])
    tree = ET.fromstring(f"<div>{text}</div>")
    cells = ["".join(cell.itertext()) for row in tree.iter("tr") for cell in row]
    assert cells == ["run", "<x>", ODD, "1.5"]
    assert [note.text for note in tree.iter("p")] == ["p < 0.05"]
    assert ["style" in cell.attrib for cell in tree.iter("td")] == [False, True]


def test_numbers_are_aligned_right_and_notes_are_below_the_table() -> None:
    table = ["run", "mean"], [[markdown_text(ODD), "1.5"]], [False, True], ["one", "two"]
    lines = markdown_table(*table).splitlines()
    assert lines == ["| run | mean |", "| --- | ---: |", r"| a_b\|c\&d\<b> | 1.5 |", "", "one", "", "two"]
    lines = latex_table(["run", "mean"], [[latex_text(ODD), "1.5"]], [False, True], ["one"]).splitlines()
    assert lines[0] == r"\begin{tabular}{lr}" and lines[-2:] == [r"\end{tabular}", "% one"]
    assert lines[4] == r"a\_b\textbar{}c\&d\textless{}b\textgreater{} & 1.5 \\"
