"""The output of a notebook's code cells, without a kernel: python notebooks.py NOTEBOOK writes it as JSON."""

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

Shown = dict[str, list[str]]  # "printed" and "value" have one text or none, "figures" has a line for each


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def stored(cell: dict[str, Any]) -> Shown:
    """Returns the outputs stored in the notebook."""
    outputs: dict[str, list[str]] = {"stream": [], "execute_result": [], "display_data": [], "error": []}
    for each in cell["outputs"]:
        lines = each["text"] if each["output_type"] == "stream" else each["data"]["text/plain"]
        outputs[each["output_type"]].append("".join(lines))
    return {
        "printed": outputs["stream"],
        "value": outputs["execute_result"],
        "figures": outputs["display_data"],
    }


def executed(source: str, names: dict[str, Any]) -> Shown:
    """Returns the printed text, the value of the last line if it has one, and the open figures."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    figures = [repr(plt.figure(number)) for number in plt.get_fignums()]
    plt.close("all")
    return {
        "printed": [printed.getvalue()] if printed.getvalue() else [],
        "value": [] if value is None else [repr(value)],
        "figures": figures,
    }


if __name__ == "__main__":
    namespace: dict[str, Any] = {}
    print(
        json.dumps([executed("".join(cell["source"]), namespace) for cell in code_cells(Path(sys.argv[1]))])
    )
