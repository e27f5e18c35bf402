"""Hooks of MkDocs: generated pages and tables, formulas, and links."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from tempfile import TemporaryDirectory
from typing import Any

import click
from jinja2 import Environment, FileSystemLoader
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import cells
import reproductions_page
import same_system
import tables
from touche import tasks
from touche.cli import FIRST, LAB, MORE, cli
from touche.data.places import shipped_baselines
from touche.evaluation.same_system import note_on_means
from touche.reports.page import PAGE_FILE, write
from touche.reports.report_content import published_parts, score_files, task_report
from touche.reports.report_records import Report, TaskReport

REPOSITORY = os.environ.get("TOUCHE_REPOSITORY", "")  # its address; without it source files are not linked
_FENCED = re.compile(r"^```(\w*).*?\n(.*?)^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?![a-z]+:|#)([^()\s]+)\)")
_PICTURE = re.compile(r'\b(src|srcset)="(?![a-z]+:)([^"]+)"')
_MARK = re.compile(r"<!-- generated: (\w+) -->")
_CODE = re.compile("(<pre.*?</pre>|<script.*?</script>)", re.DOTALL)
_TAG = re.compile("<[^>]*>")
_SPACE = re.compile(r"\s+")
_PLAIN = re.compile(  # marks that change nothing on the page of the Python API, but are half of it
    '<span (?:class="(?:n|o|p|w|nb|kc)"|title="[^"]*")>([^<]*)</span>'
    r'|<div class="doc-md-description">\s*<p>((?:(?!</?(?:p|div)).)*)</p>\s*</div>'
    '|(?<=<a) class="autorefs autorefs-internal"(?: title="[^"]*")?'
    '|(?<=<li) class="doc[^"]*"|(?<=<div) class="doc (?!doc-sig)[^"]*"|(?<=<span) class="doc doc[^"]*"',
    re.DOTALL,
)
_NOTEBOOKS = tables.ROOT / "docs" / "notebooks"
_FOLDER = "reference/baselines"
_README = "README.md"
_HOME = "index.md"
_GALLERY = "Published results of Touché"
_ICONS = package_files("material").joinpath("templates", ".icons")


def on_config(config: MkDocsConfig) -> None:
    """Adds a page for each baseline to the navigation."""
    (reference,) = [section["Reference"] for section in config.nav or () if "Reference" in section]
    (pages,) = [item["Baselines"] for item in reference if "Baselines" in item]
    pages += [{name: f"{_FOLDER}/{name}.md"} for name in shipped_baselines()]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Makes a page for each baseline, each task with published results, and each notebook."""
    for name in shipped_baselines():
        files.append(File.generated(config, f"{_FOLDER}/{name}.md", content=_baseline_page(name)))
    header = _header(config)
    for name, page in _gallery().items():
        if name != PAGE_FILE:
            with_header = page.replace("<header>", f"{header}<header>", 1)
            files.append(File.generated(config, f"gallery/{name}", content=with_header))
    for notebook in sorted(_NOTEBOOKS.glob("*.ipynb")):
        page = f"{_NOTEBOOKS.name}/{notebook.stem}.md"
        files.append(File.generated(config, page, content=cells.as_markdown(notebook)))
    for name in ("field.css", "field.js"):
        content = package_files("touche.reports").joinpath("templates", name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"assets/{name}", content=content))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Inserts generated tables, typesets formulas, and resolves links to pages or to the repository."""
    generated = _MARK.sub(lambda mark: _GENERATED[mark[1]](), markdown)
    text = ""
    end = 0  # of the last block of code
    for code in _FENCED.finditer(generated):
        text += _with_links(generated[end : code.start()], page.file.src_uri)
        text += _formula(code[2]) if code[1] == "math" else code[0]
        end = code.end()
    return text + _with_links(generated[end:], page.file.src_uri)


def on_post_page(output: str, **_: Any) -> str:
    """Makes a page smaller: collapses white space outside code, and removes marks without a colour."""
    parts = _CODE.split(_PLAIN.sub(lambda mark: mark[1] or mark[2] or "", _named(output)))
    return "".join(part if part.startswith(("<pre", "<script")) else _SPACE.sub(" ", part) for part in parts)


def on_post_template(output_content: str, **_: Any) -> str:
    """Does the same for the page on missing pages as for others."""
    return _named(output_content)


def _named(html: str) -> str:
    """Gives the parts of the search names for screen readers, which the theme lacks."""
    html = html.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    return html.replace('id="__search"', 'id="__search" aria-label="Search"')


def on_post_build(config: MkDocsConfig) -> None:
    """Removes the tags from the search index, because every page loads it."""
    path = Path(config.site_dir) / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    for section in index["docs"]:
        section["text"] = _SPACE.sub(" ", _TAG.sub(" ", section["text"])).strip()
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def _baseline_page(name: str) -> str:
    readme = (tables.ROOT / "baselines" / name / _README).read_text(encoding="utf-8")
    options = f"## Options\n\n{tables.options_table(name)}\n"
    scores = f"## Published and reproduced scores {{ data-search-exclude }}\n\n{tables.scores_table(name)}"
    return f"{readme}\n{options}\n{scores}"


def _formula(latex: str) -> str:
    # tf is a name, not t times f.
    upright = re.sub(r"(?<![\\A-Za-z])([a-z]{2,})(?![A-Za-z])", r"\\mathrm{\1}", latex)
    formula = convert(upright, display="block")
    return f'<div class="formula" tabindex="0" role="group" aria-label="Formula">{formula}</div>'


def _with_links(text: str, page: str) -> str:
    def link(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        address = _address(target, page)
        return f"{picture}[{words}]({address})" if address else words

    with_pictures = _PICTURE.sub(lambda match: f'{match[1]}="{_address(match[2], page)}"', text)
    return _LINK.sub(link, with_pictures)


def _address(target: str, page: str) -> str:
    """Returns the address of a relative link; empty for a source file if the repository is unknown."""
    path, hash, anchor = target.partition("#")
    source = f"docs/{page}"
    if page == _HOME:
        source = _README  # which it contains
    elif dirname(page) == _FOLDER:
        source = f"baselines/{page[len(_FOLDER) + 1 : -3]}/{_README}"
    path = normpath(join(dirname(source), path))
    baseline = re.fullmatch(rf"baselines/([\w-]+)(?:/{_README})?", path)
    if baseline:
        path = f"docs/{_FOLDER}/{baseline[1]}.md"
    if path.startswith(f"docs/{_NOTEBOOKS.name}/"):
        path = path.replace(".ipynb", ".md")
    if path.startswith("docs/"):
        return relpath(path.removeprefix("docs/"), dirname(page)) + hash + anchor
    return f"{REPOSITORY}/blob/main/{path}{hash}{anchor}" if REPOSITORY else ""


def _header(config: MkDocsConfig) -> str:
    """Returns the theme's header as HTML, for the gallery's pages that aren't made from Markdown."""
    sections = {}
    for section in config.nav or ():
        [(title, pages)] = section.items()
        first = pages if isinstance(pages, str) else pages[0]
        sections[title] = relpath(first, "gallery").replace(".md", ".html")
    icons = [config.theme["icon"]["logo"], *(each["toggle"]["icon"] for each in config.theme["palette"])]
    logo, light, dark = [_ICONS.joinpath(f"{icon}.svg").read_text(encoding="utf-8") for icon in icons]
    templates = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=False)
    template = templates.get_template("header.html.j2")
    return template.render(name=config.site_name, sections=sections, logo=logo, light=light, dark=dark)


@cache
def _gallery() -> Mapping[str, str]:
    """Returns the pages of a report on all published results and on the runs of make demo, by their names."""
    toy = [_part_on_toys(folder) for folder in sorted((tables.ROOT / "build" / "demo").glob("*"))]
    report = Report(_GALLERY, "make site", [*published_parts(), *toy], gallery=True)
    with TemporaryDirectory() as folder:
        write(report, Path(folder))
        return {path.name: path.read_text(encoding="utf-8") for path in Path(folder).glob("*.html")}


def _part_on_toys(folder: Path) -> TaskReport:
    task = tasks.task(f"spot-check/{folder.name}")
    return task_report(score_files(sorted(folder.glob("*/run.txt")), task), task, task.id)


def _field() -> str:
    """Returns the front page of the gallery without its frame."""
    _, _, rest = _gallery()[PAGE_FILE].partition('<main id="main">')
    return re.sub(r"\n\s*", "\n", rest.partition("</main>")[0])


def _commands() -> str:
    """Returns the help of every command, each in a section; those of the lab are below a heading."""
    sections = [_help("touche", cli, None)]
    for name in (*FIRST, *MORE):
        sections += _with_subcommands(name, cli.get_command(click.Context(cli), name))
    sections.append("## Lab\n\nWhat few users need.\n")
    for name in LAB:
        lab_sections = _with_subcommands(name, cli.get_command(click.Context(cli), name))
        sections += [f"#{section}" for section in lab_sections]  # headings one level deeper
    return "\n".join(sections)


def _with_subcommands(name: str, command: click.Command | None) -> list[str]:
    if command is None:
        sys.exit(f"error: there is no command {name}; correct touche.cli")
    parent = click.Context(cli, info_name="touche")
    context = click.Context(command, info_name=name, parent=parent)
    nested = command.commands if isinstance(command, click.Group) else {}
    return [
        _help(f"touche {name}", command, parent),
        *(_help(f"touche {name} {subcommand}", nested[subcommand], context) for subcommand in nested),
    ]


def _help(name: str, command: click.Command, parent: click.Context | None) -> str:
    info_name = name.rpartition(" ")[2]
    context = click.Context(
        command, parent, info_name, max_content_width=90, terminal_width=90, show_default=True
    )
    return f"## {name}\n\n```text\n{command.get_help(context)}\n```\n"


_GENERATED: Mapping[str, Callable[[], str]] = {
    "commands": _commands,
    "field": _field,
    "note_on_means": lambda: f"{note_on_means()}.",
    "readme": lambda: (tables.ROOT / _README).read_text(encoding="utf-8"),
    "reproductions": reproductions_page.page,
    "same_system_rules": same_system.rules_table,
    "same_system_topics": same_system.topics_table,
}
