"""Digests of images: equal for the forms in which programs save the same content, different for others."""

import gzip
import hashlib
import io
import json
import os
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Write
from engines import Entry
from engines import tar as layer
from touche.errors import ToucheError
from touche.runners import image_content
from touche.runners.image_content import Content, parse_archive

CONFIG = {"Entrypoint": ["baseline"], "Env": ["A=1", "B=2"], "Labels": {"title": "x"}}
FOLDER = {"type": tarfile.DIRTYPE, "mode": 0o755}


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
        [content] = parse_archive(archive).values()
    return content


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
    "settings that are not set": lambda: image(
        [layer(A, B, LINK)],
        CONFIG | {"OnBuild": None, "Healthcheck": None, "Tty": False, "Image": "sha256:1"},
    ),
    "a file named like JSON": lambda: image(
        [layer(A, B, LINK, ("[x", {}, b"")), layer(("/.wh.[x", {}, b""))]
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
    "a health check": lambda: image([layer(A, B, LINK)], CONFIG | {"Healthcheck": {"Test": ["CMD", "x"]}}),
    "commands for later builds": lambda: image([layer(A, B, LINK)], CONFIG | {"OnBuild": ["RUN x"]}),
    "a setting that is not known": lambda: image([layer(A, B, LINK)], CONFIG | {"NewSetting": 1}),
    "a setting in other letters": lambda: image(
        [layer(A, B, LINK)], CONFIG | {"healthcheck": {"Test": ["x"]}}
    ),
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


def header(kind: bytes, content: bytes, name: str = "opt/c", **fields: Any) -> bytes:
    """A member, or an extended header before it, as it is in an archive."""
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, len(content)
    for field, value in fields.items():
        setattr(member, field, value)
    return member.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)


def pax(key: str, value: str) -> bytes:
    return next(f"{n} {key}={value}\n".encode() for n in range(999) if len(f"{n} {key}={value}\n") == n)


C = header(tarfile.REGTYPE, b"c")
END = bytes(1024)
NOTHING = pax("path", "opt/.wh.c")
V7 = bytearray(C)  # with a device number that only Python reads, and ends at
V7[257:263], V7[329:337] = bytes(6), b"x" * 8
V7[148:156] = b"%06o\0 " % (sum(V7[:148]) + sum(V7[156:512]) + 8 * 32)
GNU = bytearray(C)  # with a time where Python reads a prefix
GNU[257:265], GNU[345:356] = b"ustar  \0", b"opt/.wh.x/a"
GNU[148:156] = b"%06o\0 " % (sum(GNU[:148]) + sum(GNU[156:512]) + 8 * 32)
AMBIGUOUS = {
    "a global header": header(b"g", NOTHING) + header(b"x", pax("mtime", "1")) + C,
    "a global header at the end": C + header(b"g", NOTHING),
    "a global header without a file's own": header(b"g", pax("comment", "x")) + C,
    "a name of PAX and one of GNU tar": header(b"x", NOTHING) + header(b"L", b"opt/c\0") + C,
    "the same in the other order": header(b"L", b"opt/c\0") + header(b"x", NOTHING) + C,
    "two names of PAX": header(b"x", NOTHING) + header(b"x", pax("path", "opt/c")) + C,
    "two names of GNU tar": header(b"L", b"opt/.wh.c\0") + header(b"L", b"opt/c\0") + C,
    "a header of Solaris": header(b"X", NOTHING) + C,
    "an empty name": header(b"x", pax("path", "")) + C,
    "a size of PAX": header(b"x", pax("size", "1")) + C,
    "a sparse file": header(b"x", pax("GNU.sparse.name", "opt/.wh.c")) + C,
    "a header without a format": bytes(V7) + C,
    "a prefix in a header of GNU tar": bytes(GNU),
    "another block after the end": END[:512] + C,
    "an unknown type": header(b"7", b"", "opt/.wh.c") + C,
    "a name with dots": header(b"0", b"c", "opt/x/../c"),
    "a name out of the root": header(b"0", b"c", "../c"),
    "a name with two slashes": header(b"0", b"c", "opt//c"),
    "a file twice": C + C,
    "a file and its removal": C + header(b"0", b"", "opt/.wh.c"),
    "a removal of nothing": header(b"0", b"", "opt/.wh.nothing"),
    "a removal in a removal": header(b"0", b"", "opt/.wh.x/c"),
    "a file below a link": header(b"2", b"", "opt/d", linkname="e") + header(b"0", b"c", "opt/d/c"),
    "a file below a link of the layer below": header(b"0", b"c", "opt/link/c"),
}


@pytest.mark.parametrize("form", AMBIGUOUS)
def test_layers_that_programs_could_unpack_differently_are_refused(form: str) -> None:
    """An image with one of these layers could have another image's digest, and other files."""
    for content in (AMBIGUOUS[form] + END, gzip.compress(AMBIGUOUS[form] + END)):
        with pytest.raises(ToucheError, match=r"a layer of the image .*, so programs could unpack"):
            assert image([layer(A, B, LINK), content, layer()]).digest


def test_long_names_of_both_formats_are_read() -> None:
    name = "opt/" + "n" * 200
    of_gnu = header(b"L", name.encode() + b"\0") + C
    of_pax = header(b"x", pax("path", name)) + C
    assert image([of_gnu + END]).digest == image([of_pax + END]).digest


@pytest.mark.parametrize("key", ["config", "Config", "CONFIG"])
def test_a_key_that_occurs_twice_is_refused(key: str) -> None:
    """The engines join the values, and ignore the case of keys."""
    description = f'{{"config": {{"Healthcheck": {{}}}}, "{key}": {{}}}}'.encode()
    manifest = b'[{"Config": "c.json", "Layers": ["0/layer.tar"]}]'
    with pytest.raises(ValueError, match="a key occurs twice"):
        parsed(("0/layer.tar", {}, layer(A)), ("manifest.json", {}, manifest), ("c.json", {}, description))


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


def saved_together(layers_of_image: Mapping[str, list[bytes]]) -> bytes:
    """An archive of several images by the names of their settings' files; equal layers are in it once."""
    manifest = []
    parts = dict[str, Entry]()
    for name, layers in layers_of_image.items():
        description = {"os": "linux", "architecture": "amd64", "config": CONFIG}
        names = [f"{hashlib.sha256(content).hexdigest()}.tar" for content in layers]
        parts |= {name: (name, {}, content) for name, content in zip(names, layers, strict=True)}
        parts[f"blobs/{name}"] = (f"blobs/{name}", {}, json.dumps(description).encode())
        manifest.append({"Config": f"blobs/{name}", "Layers": names})
    return layer(*parts.values(), ("manifest.json", {}, json.dumps(manifest).encode()))


@pytest.mark.parametrize(("is_known", "saves"), [(True, 1), (False, 3)])
def test_images_are_read_together_if_their_ids_tell_them_apart(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool, saves: int
) -> None:
    """With containerd's store, ids are others, and each image is saved alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    base = layer(A)
    images = {"1a": [base, layer(B)], "2b": [base, layer(OTHER)]}
    for name, layers in images.items():
        write(f"saved-{name}", "").write_bytes(saved_together({name: layers}))
    together = images if is_known else {f"{name}c": layers for name, layers in images.items()}
    write("saved-1a-2b", "").write_bytes(saved_together(together))
    program = write(
        "bin/docker",
        f"""#!/bin/sh
if [ "$1" != save ]; then echo "sha256:$5"; exit; fi
shift; echo "$*" >> {tmp_path}/saves; cat {tmp_path}/saved-$(echo "$*" | tr ' ' -)
""",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    found = image_content.digests("docker", ["1a", "2b", "1a"])
    assert [digest.id for digest in found] == ["sha256:1a", "sha256:2b", "sha256:1a"]
    assert [digest.digest for digest in found] == [image(images[name]).digest for name in ("1a", "2b", "1a")]
    assert len((tmp_path / "saves").read_text().splitlines()) == saves
    assert image_content.digests("docker", ["2b", "1a"]) == [found[1], found[0]]
    assert len((tmp_path / "saves").read_text().splitlines()) == saves, "digests are cached"


def test_two_images_of_one_name_are_refused() -> None:
    [entry] = json.loads(PARTS["manifest.json"])
    twice = archive(PARTS | {"manifest.json": json.dumps([entry, entry]).encode()})
    with (
        tarfile.open(fileobj=io.BytesIO(twice), mode="r|") as opened,
        pytest.raises(ValueError, match="two images have the same settings"),
    ):
        parse_archive(opened)
