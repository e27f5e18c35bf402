"""Reports on runs of images: a column for each stance, and thumbnails of untrusted pictures."""

import io
import os
import shutil
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

import touche as package
from conftest import ROOT
from touche.documents.images import picture
from touche.errors import InputError
from touche.reports import thumbnails
from touche.reports.thumbnails import thumbnail


def encoded(size: tuple[int, int], format: str) -> bytes:
    file = io.BytesIO()
    Image.effect_noise(size, 90).convert("RGB").save(file, format)
    return file.getvalue()


@pytest.mark.parametrize("format", ["WEBP", "PNG", "JPEG"])
def test_a_thumbnail_is_a_small_webp(format: str) -> None:
    uri = thumbnail(encoded((900, 300), format))
    assert uri.startswith("data:image/webp;base64,") and len(uri) <= 30_100
    with Image.open(io.BytesIO(b64decode(uri.partition(",")[2]))) as small:
        assert (small.format, small.width, small.height) == ("WEBP", 160, 53)


@pytest.mark.parametrize(
    "content",
    [b"", b"<svg onload='alert(1)'/>", b"<html>", encoded((64, 64), "PNG")[:90], encoded((64, 64), "GIF")],
)
def test_what_is_not_a_picture_has_no_thumbnail(content: bytes) -> None:
    assert thumbnail(content) == ""


def test_a_picture_with_too_many_pixels_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbnails, "_MOST_PIXELS", 99)
    assert thumbnail(encoded((10, 10), "PNG")) == "" and thumbnail(encoded((9, 11), "PNG"))
    monkeypatch.setattr(thumbnails, "_MOST_CHARACTERS", 10)
    assert thumbnail(encoded((9, 9), "PNG")) == ""


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_a_picture_that_is_no_file_is_an_error_with_its_path(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "images" / "I00" / "I0000000000000000" / "image.webp"
    path.parent.mkdir(parents=True)
    make(path)
    with pytest.raises(InputError, match=r"image\.webp: not a file"):
        picture(tmp_path, path.parent.name)


def test_a_page_has_two_columns_with_addresses_grades_and_thumbnails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = shutil.copytree(
        ROOT / "corpora" / "spot-check-images", tmp_path / "corpora" / "spot-check-images"
    )
    run = package.run("minsc", "spot-check/images")
    first = run[0].document
    path = images / "images" / first[:3] / first
    (path / "image.webp").write_bytes(encoded((300, 300), "WEBP"))
    assert picture(images, first) and not picture(images, "../../etc")
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    html = package.report({"mine": run}, tmp_path / "report", "spot-check/images").read_text()
    pro = html.index("<h3>1 PRO</h3>")
    con = html.index("<h3>1 CON</h3>")
    assert html.count("<h3>") == 6 and html.count("data:image/webp") == 1
    address = min(path.glob("pages/*/page-url.txt")).read_text().strip()
    assert pro < html.index(f"<code>{first}</code>") < html.index(address) < con
    assert all(f"{name}P@10 of each topic" in html for name in ("topicRelevance", "stanceRelevance"))
