"""The page of a report: one HTML file with everything in it, and the plots beside it as files."""

from importlib.metadata import version
from pathlib import Path

from touche.errors import ToucheError, installing
from touche.evaluation.ndcg import TREC_EVAL_VERSION
from touche.files import make_folder, write_whole
from touche.origin import origin
from touche.progress import bar
from touche.report import plots
from touche.report.records import Page

PAGE_FILE = "index.html"


def write(page: Page, folder: Path) -> Path:
    """Writes a report.

    Args:
        page: what it shows.
        folder: where index.html and the plots go; it is made.

    Returns:
        The path of the page.

    Raises:
        ToucheError: if the folder cannot be written, or Jinja2 or matplotlib are not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        problem = "Jinja2 is not installed"
        raise ToucheError(f"{problem}; get it with: {installing('analysis')}") from error

    make_folder(folder)
    environment = Environment(
        loader=PackageLoader("touche.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["digits"] = _digits
    html = environment.get_template("page.html").render(
        page=page, plots=_plots(page, folder), made_by=_program(), trec_eval=TREC_EVAL_VERSION
    )
    write_whole(folder / PAGE_FILE, html)
    return folder / PAGE_FILE


def _plots(page: Page, folder: Path) -> dict[str, str]:
    """The plots as SVG by name, which are saved on the way."""
    figures = {"usage": plots.usage(page.outcomes)} if any(each.usage for each in page.outcomes) else {}
    for part in page.parts:
        for view in part.views:
            label = f"{part.task.measure} ({view.evaluator}), {view.dimension}"
            figures[f"{part.id}-{view.id}-intervals"] = plots.intervals(view.listed, label)
            if len(view.runs) > 1:
                figures[f"{part.id}-{view.id}-differences"] = plots.differences(view)
    drawn = bar("drawing", "plots", len(figures), over=figures.items())
    return {name: plots.saved(figure, folder / name) for name, figure in drawn}


def _program() -> str:
    """The versions of what computes the figures; of a clone, its commit, too."""
    here = Path(__file__).parent
    commit = f" (commit {origin(here)['revision']})" if here.parents[1].name == "src" else ""
    evaluator = f"trec_eval {TREC_EVAL_VERSION} by pytrec_eval-terrier {version('pytrec_eval-terrier')}"
    return f"touche-baselines {version('touche-baselines')}{commit}, {evaluator}"


def _digits(value: float | None, digits: int = 3, sign: str = "") -> str:
    return "–" if value is None else f"{round(value, digits) + 0.0:{sign}.{digits}f}".replace("-", "−")
