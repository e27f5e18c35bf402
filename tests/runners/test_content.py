"""Digests of images: equal for the forms in which programs save the same content, different for others."""

import gzip
import io
import json
import tarfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Write
from touche.errors import ToucheError
from touche.runners import image_content
from touche.runners.image_content import Content, parse_archive

Entry = tuple[str, dict[str, Any], bytes]
CONFIG = {"Entrypoint": ["baseline"], "Env": ["A=1", "B=2"], "Labels": {"title": "x"}}
FOLDER = {"type": tarfile.DIRTYPE, "mode": 0o755}


def layer(*entries: Entry) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, fields, data in entries:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for field, value in fields.items():
                setattr(member, field, value)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def image(
    layers: Sequence[bytes], config: dict[str, Any] | None = None, *, manifest_first: bool = False
) -> Content:
    """The content of an archive of docker save, in one of the orders of its parts."""
    names = [f"{number}/layer.tar" for number in range(len(layers))]
    description = {"os": "linux", "architecture": "amd64", "config": CONFIG if config is None else config}
    manifest = json.dumps([{"Config": "c.json", "Layers": names}]).encode()
    parts: list[Entry] = [(name, {}, data) for name, data in zip(names, layers, strict=True)]
    descriptions: list[Entry] = [
        ("manifest.json", {}, manifest),
        ("c.json", {}, json.dumps(description).encode()),
    ]
    return parsed(*(descriptions + parts if manifest_first else parts + descriptions))


def parsed(*parts: Entry) -> Content:
    with tarfile.open(fileobj=io.BytesIO(layer(("0/VERSION", {}, b"1.0"), *parts)), mode="r|") as archive:
        return parse_archive(archive)


A = ("opt", FOLDER, b"")
B = ("opt/b", {"mode": 0o644}, b"b" * 2000)
WHOLE = image([layer(A, B, ("opt/link", {"type": tarfile.SYMTYPE, "linkname": "b"}, b""))])
LINK = ("opt/link", {"type": tarfile.SYMTYPE, "linkname": "b"}, b"")
OTHER = ("opt/c", {"mode": 0o644}, b"c")
SAME: dict[str, Callable[[], Content]] = {
    "times": lambda: image([layer(A, ("opt/b", {"mode": 0o644, "mtime": 9}, B[2]), LINK)]),
    "names of owners": lambda: image([layer(A, ("opt/b", {"mode": 0o644, "uname": "root"}, B[2]), LINK)]),
    "order": lambda: image([layer(LINK, B, A)]),
    "slashes": lambda: image([layer(("./", FOLDER, b""), ("./opt/", FOLDER, b""), ("/opt/b", *B[1:]), LINK)]),
    "compression": lambda: image([gzip.compress(layer(A, B, LINK))]),
    "another order of parts": lambda: image([layer(A, B, LINK)], manifest_first=True),
    "two layers": lambda: image([layer(A, B), layer(A, LINK)]),
    "an empty layer": lambda: image([layer(A, B, LINK), layer()]),
    "a removed file": lambda: image([layer(A, B, LINK, OTHER), layer(A, ("opt/.wh.c", {}, b""))]),
    "a folder anew": lambda: image(
        [layer(A, ("opt/sub", FOLDER, b""), OTHER), layer(A, ("opt/.wh..wh..opq", {}, b""), B, LINK)]
    ),
    "a file where a folder was": lambda: image(
        [layer(A, ("opt/b", FOLDER, b""), ("opt/b/x", {}, b"x")), layer(B, LINK)]
    ),
    "order of variables": lambda: image([layer(A, B, LINK)], CONFIG | {"Env": ["B=2", "A=1"]}),
    "the label of a builder": lambda: image(
        [layer(A, B, LINK)], CONFIG | {"Labels": {"title": "x", "io.buildah.version": "1"}}
    ),
    "the default folder": lambda: image([layer(A, B, LINK)], CONFIG | {"WorkingDir": "/"}),
    "a repeated layer, which is a link": lambda: parsed(
        ("0/layer.tar", {}, layer(A, B, LINK)),
        ("1/layer.tar", {"type": tarfile.SYMTYPE, "linkname": "../0/layer.tar"}, b""),
        ("manifest.json", {}, b'[{"Config": "c.json", "Layers": ["0/layer.tar", "1/layer.tar"]}]'),
        ("c.json", {}, json.dumps({"os": "linux", "architecture": "amd64", "config": CONFIG}).encode()),
    ),
}
DIFFERENT: dict[str, Callable[[], Content]] = {
    "bytes": lambda: image([layer(A, ("opt/b", {"mode": 0o644}, b"B" * 2000), LINK)]),
    "mode": lambda: image([layer(A, ("opt/b", {"mode": 0o664}, B[2]), LINK)]),
    "mode of a folder": lambda: image([layer(("opt", FOLDER | {"mode": 0o775}, b""), B, LINK)]),
    "owner": lambda: image([layer(A, ("opt/b", {"mode": 0o644, "uid": 1}, B[2]), LINK)]),
    "group": lambda: image([layer(A, ("opt/b", {"mode": 0o644, "gid": 1}, B[2]), LINK)]),
    "target": lambda: image([layer(A, B, ("opt/link", LINK[1] | {"linkname": "c"}, b""))]),
    "kind": lambda: image([layer(A, B, ("opt/link", {"mode": 0o777}, b"b"))]),
    "path": lambda: image([layer(A, ("opt/B", *B[1:]), LINK)]),
    "one more": lambda: image([layer(A, B, LINK, OTHER)]),
    "removed": lambda: image([layer(A, B, LINK), layer(("opt/.wh.b", {}, b""))]),
    "capability": lambda: image(
        [layer(A, ("opt/b", {"mode": 0o644, "pax_headers": {image_content._CAPABILITY: "x"}}, B[2]), LINK)]
    ),
    "entrypoint": lambda: image([layer(A, B, LINK)], CONFIG | {"Entrypoint": ["sh"]}),
    "variable": lambda: image([layer(A, B, LINK)], CONFIG | {"Env": ["A=1", "B=3"]}),
    "label": lambda: image([layer(A, B, LINK)], CONFIG | {"Labels": {"title": "y"}}),
    "user": lambda: image([layer(A, B, LINK)], CONFIG | {"User": "1"}),
}


@pytest.mark.parametrize("form", SAME)
def test_forms_of_the_same_content_have_one_digest(form: str) -> None:
    assert SAME[form]().digest == WHOLE.digest


@pytest.mark.parametrize("change", DIFFERENT)
def test_a_change_of_the_content_changes_the_digest(change: str) -> None:
    assert DIFFERENT[change]().digest != WHOLE.digest


def test_which_of_two_names_is_the_hard_link_does_not_matter() -> None:
    file = {"mode": 0o644}
    first = layer(("x", file, b"1"), ("y", {"type": tarfile.LNKTYPE, "linkname": "x"}, b""))
    second = layer(("y", file, b"1"), ("x", {"type": tarfile.LNKTYPE, "linkname": "./y"}, b""))
    assert (
        image([first]).digest
        == image([second]).digest
        == image([layer(("x", file, b"1"), ("y", file, b"1"))]).digest
    )


def test_layers_have_commands_also_without_a_history() -> None:
    assert image([layer(A, B), layer(OTHER)]).commands == ["layer 1", "layer 2"]


PARTS = {
    "0/layer.tar": layer(A, B),
    "c.json": b"{}",
    "manifest.json": b'[{"Config": "c.json", "Layers": ["0/layer.tar"]}]',
}


def archive(parts: dict[str, bytes]) -> bytes:
    return layer(*((name, {}, data) for name, data in parts.items()))


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        pytest.param(
            archive({name: PARTS[name] for name in ("c.json", "manifest.json")}),
            "docker cannot save touche/x",
            id="no layer",
        ),
        pytest.param(
            archive({name: PARTS[name] for name in ("0/layer.tar", "c.json")}),
            "docker cannot save touche/x",
            id="no manifest",
        ),
        pytest.param(archive(PARTS)[:1500], "docker cannot save touche/x", id="cut"),
        pytest.param(
            archive(PARTS | {"0/layer.tar": image_content._ZSTANDARD + bytes(1000)}), "zstd", id="zstd"
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_of_one_line(write: Write, saved: bytes, message: str) -> None:
    program = write("docker", f"#!/bin/sh\ncat '{write('saved', saved)}'\n")
    program.chmod(0o755)
    with pytest.raises(ToucheError, match=message) as caught:
        image_content.read_content(str(program), "touche/x")
    assert "\n" not in str(caught.value)


def test_a_program_that_writes_no_archive_is_not_waited_for(tmp_path: Path) -> None:
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\nhead -c 40000 /dev/zero | tr '\\0' x\nexec sleep 60\n")
    program.chmod(0o755)
    begin = time.monotonic()
    with pytest.raises(ToucheError, match="cannot save"):
        image_content.read_content(str(program), "image")
    assert time.monotonic() - begin < 30
