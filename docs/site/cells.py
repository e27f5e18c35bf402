"""Notebooks without Jupyter: python docs/site/cells.py NOTEBOOK... executes each and stores its outputs."""

import ast
import json
import os
import re
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

Output = dict[str, Any]


def as_markdown(notebook: Path) -> str:
    """Returns a notebook with its stored outputs as Markdown, and a link to the file."""
    parts = list[str]()
    heading = ""  # of the section with the cell
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            headings = re.findall(r"^#+ (.*)", source, re.MULTILINE)
            heading = headings[-1] if headings else heading
            parts.append(source)
        else:
            parts.append(_fenced("python", source))
            parts += [_shown(output, heading) for output in cell["outputs"]]
    return "\n\n".join([*parts, f'<a href="{notebook.name}" download>Download this notebook</a>\n'])


def _shown(output: Output, heading: str) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="Figure: {heading}" src="data:image/png;base64,{data["image/png"].strip()}">'
    return _fenced("text", "".join(output.get("text") or data["text/plain"]))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def execute(notebook: Path) -> None:
    """Executes the cells of a notebook in order, and stores their outputs in the file."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    code = (cell for cell in content["cells"] if cell["cell_type"] == "code")
    for number, cell in enumerate(code, 1):
        cell["execution_count"] = number
        cell["outputs"] = list(_outputs("".join(cell["source"]), names, number))
    text = json.dumps(content, indent=1, ensure_ascii=False)
    notebook.write_text(text + "\n", encoding="utf-8")


def shows_the_same(notebook: Path, other: Path) -> bool:
    """Returns whether two notebooks have the same outputs, except for pictures, which depend on fonts."""
    return _without_pixels(notebook) == _without_pixels(other)


def _without_pixels(notebook: Path) -> list[list[Output]]:
    """Returns the outputs of each cell with code; of a picture, only that it is there."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs: list[list[Output]] = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    for output in chain.from_iterable(outputs):
        if "image/png" in output.get("data", {}):
            output["data"]["image/png"] = "PNG"
    return outputs


def _outputs(source: str, names: dict[str, Any], number: int) -> Iterator[Output]:
    """Yields the printed text, the value of the last line if it has one, and the open figures."""
    statements = ast.parse(source).body
    last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
    value = None
    with redirect_stdout(StringIO()) as printed:
        exec(compile(ast.Module(statements, []), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    lines = printed.getvalue().splitlines(keepends=True)
    if lines:
        yield {"output_type": "stream", "name": "stdout", "text": lines}
    if value is not None:
        yield {"output_type": "execute_result", "execution_count": number, "metadata": {}} | _data(value)
    for figure in map(plt.figure, plt.get_fignums()):
        yield {"output_type": "display_data", "metadata": {}} | _data(figure)
    plt.close("all")


def _data(value: Any) -> Output:
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if isinstance(value, Figure):
        png = BytesIO()
        value.savefig(png, format="png", metadata={"Software": None})
        data["image/png"] = b64encode(png.getvalue()).decode()
    return {"data": data}


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    plt.switch_backend("agg")
    for path in sys.argv[1:]:
        execute(Path(path))
