"""An image's content: files and settings without times, so that every builder gives the same."""

import gzip
import hashlib
import io
import json
import posixpath
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import PurePosixPath
from typing import Any

from touche.errors import ToucheError
from touche.io.identifiers import quoted
from touche.io.writing import cache_folder, write_whole
from touche.runners.programs import check_program, output_of

_FORMAT = "touche-image-1"  # version of the text that is hashed
_READER = 2  # version of this module's checks; digests cached by an earlier version are not used
# Settings that are always part of the digest. Others are if they are set, except for the parent's id, and for
# what only concerns Windows.
_SETTINGS = ("User", "WorkingDir", "Entrypoint", "Cmd", "Env", "ExposedPorts", "Volumes", "StopSignal")
_NOT_COMPARED = ("Image", "ArgsEscaped")
_LABELS_OF_BUILDERS = ("io.buildah.version",)  # not compared
_OPAQUE_FOLDER_NAME = ".wh..wh..opq"  # in a layer, hides the folder's files from lower layers
_REMOVED_PREFIX = ".wh."  # prefix of a removed path's name
_CAPABILITY = "SCHILY.xattr.security.capability"  # the only extended attribute that builders keep
_GZIP = b"\x1f\x8b"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_MAX_DESCRIPTION_BYTES = 1 << 24  # of a JSON file, because an archive may be any size
_TAR_BLOCK_BYTES = 512  # size of a header, and of the smallest tar file, such as a layer
_TAR_MAGIC = slice(257, 263)
_PREFIX = slice(345, 500)  # of the name, in the POSIX format; GNU tar writes other values there
_TYPES = b"\x000123456"  # files, links, devices, folders and pipes
_EXTENDED_TYPES = (b"", b"x", b"L", b"K", b"LK", b"KL")  # headers before a member's own: PAX's, or GNU tar's


@dataclass(frozen=True)
class File:
    """A file, folder or link in an image.

    Attributes:
        kind: ``file``, ``folder``, ``link`` or ``device``.
        mode: the permissions, such as ``755``.
        owner: user id and group id, such as ``0:0``.
        content: a file's SHA-256, a link's target, a device's numbers, or empty for a folder; followed by the
            file's Linux capabilities, if any.
    """

    kind: str
    mode: str
    owner: str
    content: str


Layer = Mapping[str, File | None]
"""The files of a layer by their paths, without a slash at the start.

A removal has None instead of a file; its path has the marker, as in ``folder/.wh.name``.
"""


@dataclass(frozen=True)
class Content:
    """An image's content.

    Attributes:
        layers: the layers, lowest first.
        commands: the command that made each layer.
        settings: entrypoint, variables, labels and others by name.
    """

    layers: Sequence[Layer]
    commands: Sequence[str]
    settings: Mapping[str, Any]

    def files(self, layers: int | None = None) -> dict[str, File]:
        """Returns the files by path, after the lowest ``layers`` layers or after all."""
        files: dict[str, File] = {}
        for layer in self.layers[:layers]:
            _check_paths(layer, files)
            _remove(files, layer)
            files |= {path: file for path, file in layer.items() if file is not None}
        return files

    @property
    def digest(self) -> str:
        """A digest of files and settings, such as ``sha256:5f3a...``."""
        digest = hashlib.sha256(f"{_FORMAT}\n{json.dumps(self.settings, sort_keys=True)}\n".encode())
        for path, file in sorted(self.files().items()):
            fields = [path, file.kind, file.mode, file.owner, file.content]
            # Paths may not be UTF-8.
            digest.update("\0".join(fields).encode(errors="surrogateescape") + b"\n")
        return f"sha256:{digest.hexdigest()}"


@dataclass(frozen=True)
class ImageDigest:
    """The digest of an image's content.

    Attributes:
        id: the id in Docker or Podman; each program has its own.
        digest: the digest of the content.
    """

    image: str
    id: str
    digest: str


def digest(program: str, image: str) -> ImageDigest:
    """Returns an image's content digest. It is computed once per image id and cached on disk."""
    [image_digest] = digests(program, [image])
    return image_digest


def digests(program: str, images: Sequence[str]) -> list[ImageDigest]:
    """Returns images' content digests, as ``digest`` does. Layers that images share are read only once."""
    check_program(program)
    image_ids = [_id_of(program, image) for image in images]
    files = {
        image_id: cache_folder() / "images" / f"{_FORMAT}-{_READER}-{program}-{image_id}"
        for image_id in image_ids
    }
    known = {image_id: file.read_text(encoding="ascii") for image_id, file in files.items() if file.is_file()}
    unknown = [image_id for image_id in files if image_id not in known]
    for image_id, content in _contents(program, unknown):
        known[image_id] = content.digest
        with suppress(OSError, ToucheError):  # only a cache
            files[image_id].parent.mkdir(parents=True, exist_ok=True)
            write_whole(files[image_id], known[image_id])
    return [
        ImageDigest(image=image, id=f"sha256:{image_id}", digest=known[image_id])
        for image, image_id in zip(images, image_ids, strict=True)
    ]


def _id_of(program: str, image: str) -> str:
    """Returns a local image's id in hexadecimal."""
    image_id = find_image(program, image).removeprefix("sha256:")  # Podman omits the prefix
    if not image_id:
        raise ToucheError(f"{program} has no image {image}; build or pull it")
    return image_id


def _contents(program: str, image_ids: Sequence[str]) -> Iterator[tuple[str, Content]]:
    """Yields each image's id and content."""
    if program == "docker" and len(image_ids) > 1:  # Podman needs another format for several images
        contents = _read_contents(program, image_ids)
        # With containerd's store, an image's id is not that of its settings, and can't be told here.
        if contents.keys() == {*image_ids}:
            yield from contents.items()
            return
    for image_id in image_ids:
        yield image_id, read_content(program, image_id)


def find_image(program: str, image: str) -> str:
    """Returns a local image's id as the program writes it; empty if there is no such image."""
    return output_of(program, "image", "inspect", "--format", "{{.Id}}", image)


def read_content(program: str, image: str) -> Content:
    """Reads a local image's content, without storing the archive on disk."""
    contents = _read_contents(program, [image])
    if len(contents) != 1:
        raise ToucheError(f"{program} saves several images as {image}; pass the image's id")
    [content] = contents.values()
    return content


def _read_contents(program: str, images: Sequence[str]) -> dict[str, Content]:
    """Reads local images' contents, by the ids of their settings. Layers that they share are read once."""
    command = [program, "save", *images]
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                    return parse_archive(archive)
            finally:
                process.kill()  # otherwise, after an error, we'd wait until it has written the whole archive
    # The archive ends early if the program fails, and other programs may save another format.
    except (tarfile.TarError, EOFError, OSError, KeyError, TypeError, ValueError) as error:
        problem = f"{program} cannot save {', '.join(images)} ({error})"
        raise ToucheError(f"{problem}; check its service and the disk") from error


def parse_archive(archive: tarfile.TarFile) -> dict[str, Content]:
    """Parses an archive from ``docker save`` or ``podman save`` in one pass.

    Returns:
        The images' contents by the name of their settings' file, which Docker calls by the image's id.

    Raises:
        KeyError: if a part is missing.
        ToucheError: if a layer's compression is unknown, or programs could unpack a layer differently.
        ValueError: if a description is not JSON, or names a key twice, or two images have one name.
    """
    layers: dict[str, Layer] = {}  # by name in the archive
    descriptions: dict[str, bytes] = {}  # JSON files by name
    links: dict[str, str] = {}  # targets by link name
    for member in archive:
        name = member.name
        if member.issym():  # older Docker versions save a repeated layer as a link
            links[name] = posixpath.normpath(posixpath.join(posixpath.dirname(name), member.linkname))
        elif member.isfile() and member.size:
            file = archive.extractfile(member)
            assert isinstance(file, BufferedReader)
            beginning = file.peek()  # peeked bytes are read again below
            is_tar = beginning[_TAR_MAGIC].startswith(b"ustar")  # its first file may be named like JSON
            if beginning.startswith((b"{", b"[")) and not is_tar:
                descriptions[name] = file.read(_MAX_DESCRIPTION_BYTES)
            elif beginning.startswith(_ZSTANDARD):
                raise ToucheError(
                    f"{name} is compressed by zstd; save the image with Podman, or pull it anew"
                )
            # Layers, compressed or not, have at least this size. VERSION and the like are smaller.
            elif member.size >= _TAR_BLOCK_BYTES or beginning.startswith(_GZIP):
                layers[name] = _parse_layer(file)
    contents: dict[str, Content] = {}
    for image in json.loads(descriptions["manifest.json"], object_pairs_hook=_object):
        name = PurePosixPath(image["Config"]).stem
        if name in contents:
            raise ValueError("two images have the same settings")
        contents[name] = _content(image, descriptions, layers, links)
    return contents


def _content(
    image: Mapping[str, Any],
    descriptions: Mapping[str, bytes],
    layers: Mapping[str, Layer],
    links: Mapping[str, str],
) -> Content:
    """Returns an image's content.

    Args:
        image: its entry in the archive's manifest.
        descriptions: the archive's JSON files by name.
        layers: its layers by name.
        links: the targets of its links by name.
    """
    config = json.loads(descriptions[image["Config"]], object_pairs_hook=_object)
    layers_of_image = [layers[links.get(name, name)] for name in image["Layers"]]
    # A step that changes only a setting, such as ENV, adds no layer.
    steps = [step for step in config.get("history") or () if not step.get("empty_layer")]
    commands = [step.get("created_by", "") for step in steps]
    if len(commands) != len(layers_of_image):  # the history is missing or incomplete
        commands = [f"layer {number}" for number, _ in enumerate(layers_of_image, 1)]
    return Content(layers=layers_of_image, commands=commands, settings=_settings(config))


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Makes a dictionary of a JSON object, whose keys must differ by more than case.

    Docker and Podman ignore the case, and combine the values of equal keys.
    """
    pairs = list(pairs)
    if len({name.casefold() for name, _ in pairs}) < len(pairs):
        raise ValueError("a key occurs twice in a description")
    return dict(pairs)


class _Checked(io.RawIOBase):
    """A layer's bytes. Refuses headers that Python and the engines, written in Go, read differently.

    Otherwise, a container would contain other files than those whose digest was computed.

    Attributes:
        members: the number of members so far.

    Raises:
        ToucheError: while reading, if there is such a header.
    """

    def __init__(self, stream: BufferedReader | gzip.GzipFile) -> None:
        self._stream = stream
        self._skipped = 0  # blocks until the next header
        self._extended = b""  # the types of the extended headers before it
        self._is_over = False
        self.members = 0

    def read(self, size: int = -1) -> bytes:
        """Reads whole blocks; tarfile asks for multiples of a block."""
        content = self._stream.read(size)
        for start in range(0, len(content), _TAR_BLOCK_BYTES):
            if self._skipped:
                self._skipped -= 1
            else:
                self._check(content[start : start + _TAR_BLOCK_BYTES])
        return content

    def _check(self, header: bytes) -> None:
        if not header.strip(b"\0"):  # the end
            self._is_over = True
            return
        is_posix = header[_TAR_MAGIC] == b"ustar\0"
        is_gnu = header[_TAR_MAGIC] == b"ustar " and not header[_PREFIX].strip(b"\0")
        if self._is_over or not (is_posix or is_gnu):
            raise _ambiguous("has a header in an unusual form")
        kind = header[156:157]
        size = header[124:136].strip(b" \0")
        if not re.fullmatch(b"[0-7]*", size):
            raise _ambiguous("has a header in an unusual form")
        if kind not in b"123456":  # links, devices and folders have no content
            self._skipped = -(-int(size or b"0", 8) // _TAR_BLOCK_BYTES)
        if kind in _TYPES:
            self._extended = b""
            self.members += 1
        else:
            self._extended += kind
            if self._extended not in _EXTENDED_TYPES:
                raise _ambiguous("has a global header, or several headers for a file")


def _ambiguous(problem: str) -> ToucheError:
    why = "so programs could unpack different files from it"
    return ToucheError(f"a layer of the image {problem}, {why}; build the image with Docker or Podman")


def _parse_layer(stream: BufferedReader) -> Layer:
    files: dict[str, File | None] = {}
    is_packed = stream.peek().startswith(_GZIP)
    checked = _Checked(gzip.GzipFile(fileobj=stream) if is_packed else stream)
    members = 0
    with tarfile.open(fileobj=checked, mode="r|") as layer:
        for member in layer:
            members += 1
            headers = member.pax_headers
            if not all(headers.values()) or any(
                name == "size" or name.startswith("GNU.") for name in headers
            ):
                raise _ambiguous("has a header in an unusual form")
            path = member.name.removeprefix("./").strip("/")
            if path in ("", ".") and member.isdir():  # the root
                continue
            if path != posixpath.normpath(path) or path.startswith("..") or "\0" in path or path in files:
                raise _ambiguous(f"contains {quoted(member.name)} twice or in an unusual form")
            if posixpath.basename(path).startswith(_REMOVED_PREFIX):
                files[path] = None
            # A hard link becomes a file like its target, which comes first. Programs differ in which
            # of the two names they write as the link.
            elif member.islnk():
                files[path] = files[member.linkname.removeprefix("./").strip("/")]
            else:
                files[path] = _describe_member(layer, member)
    while checked.read(_TAR_BLOCK_BYTES):  # what tarfile left
        pass
    if members != checked.members:
        raise _ambiguous("has a header in an unusual form")
    return files


def _check_paths(layer: Layer, files: Mapping[str, File]) -> None:
    """Checks that a layer removes only what lower layers contain, and writes only into folders.

    Args:
        files: the files of the lower layers.
    """
    for path, file in layer.items():
        parents = [str(parent) for parent in PurePosixPath(path).parents][:-1]  # without the root
        for parent in parents:
            folder = layer.get(parent) or files.get(parent)
            if PurePosixPath(parent).name.startswith(_REMOVED_PREFIX) or (folder and folder.kind != "folder"):
                raise _ambiguous(f"contains {quoted(path)}, but {quoted(parent)} is not a folder")
        name = posixpath.basename(path)
        if file is not None or name == _OPAQUE_FOLDER_NAME:
            continue
        removed = posixpath.join(posixpath.dirname(path), name.removeprefix(_REMOVED_PREFIX))
        if removed not in files or removed in layer:
            raise _ambiguous(f"removes {quoted(removed)}, which is in no layer below it")


def _describe_member(layer: tarfile.TarFile, member: tarfile.TarInfo) -> File:
    content = ""
    mode = f"{member.mode & 0o7777:o}"  # without the file type bits
    if member.isdir():
        kind = "folder"
    elif member.issym():
        kind = "link"
        content = member.linkname
        mode = "777"  # meaningless for links
    elif member.isfile():
        kind = "file"
        file = layer.extractfile(member)
        assert isinstance(file, BufferedReader)
        content = hashlib.file_digest(file, "sha256").hexdigest()
    else:
        kind = "device"
        content = f"{member.type!r} {member.devmajor} {member.devminor}"
    content += member.pax_headers.get(_CAPABILITY, "")
    return File(kind=kind, mode=mode, owner=f"{member.uid}:{member.gid}", content=content)


def _remove(files: dict[str, File], layer: Layer) -> None:
    """Removes from the lower layers what ``layer`` removes, and the content of folders that it replaces."""
    removed_paths: set[str] = set()
    emptied_folders: list[str] = []  # path prefixes such as ``folder/``; empty for the root
    for path, file in layer.items():
        folder, slash, name = path.rpartition("/")
        if file is not None:
            was_folder = path in files and files[path].kind == "folder"
            if was_folder and file.kind != "folder":
                emptied_folders.append(f"{path}/")
        elif name == _OPAQUE_FOLDER_NAME:
            emptied_folders.append(f"{folder}{slash}")
        else:  # a file, or a folder with its files
            target = f"{folder}{slash}{name.removeprefix(_REMOVED_PREFIX)}"
            removed_paths.add(target)
            emptied_folders.append(f"{target}/")
    emptied = tuple(emptied_folders)
    for path in [path for path in files if path in removed_paths or path.startswith(emptied)]:
        del files[path]


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an image's settings in a form that doesn't depend on the program.

    For a missing setting, programs write null or an empty value, or omit it.
    """
    written_settings = config.get("config") or {}
    settings = {name: written_settings.get(name) or "" for name in _SETTINGS}
    settings["WorkingDir"] = settings["WorkingDir"] or "/"
    settings["Env"] = sorted(settings["Env"])  # an empty list if missing
    labels = written_settings.get("Labels") or {}
    others = {name: value for name, value in written_settings.items() if value}
    for name in (*_SETTINGS, *_NOT_COMPARED, "Labels"):
        others.pop(name, None)
    settings |= others  # such as Healthcheck, which runs a command
    settings["Labels"] = {name: value for name, value in labels.items() if name not in _LABELS_OF_BUILDERS}
    return settings | {"platform": f"{config.get('os')}/{config.get('architecture')}"}
