"""Images in the publisher's folders and in ir_datasets."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import touche as package
from conftest import Touche, Write
from touche import Image, InputError
from touche.documents.discovery import find_documents
from touche.documents.document_records import ImagePage, SearchResult
from touche.documents.image_collection import Images
from touche.documents.ir_datasets import convert_record

ONE = "I05" + "0" * 14
TWO = "If0" + "1" * 14
GOOD, ANTI = (
    {"topic": "1", "query": f"tenure {end}", "rank": rank} for end, rank in (("good", 3), ("anti", 2))
)


def page(write: Write, image: str, id: str, text: str | None = None, rankings: Sequence[object] = ()) -> None:
    folder = f"in/images/{image[:3]}/{image}/pages/{id}"
    write(f"{folder}/page-url.txt", f"https://example.org/{id}\n")
    if text is not None:
        write(f"{folder}/snapshot/text.txt", text)
    if rankings:
        write(f"{folder}/rankings.jsonl", "".join(json.dumps(ranking) + "\n" for ranking in rankings))


@pytest.fixture
def folder(write: Write, tmp_path: Path) -> Path:
    """An image with two pages, and another one of which only a folder is left."""
    write("in/queries.jsonl", '{"qid": "1", "query": "Should teachers get tenure?"}\n')
    page(write, ONE, "Pb", "second tenure", [GOOD, ANTI])
    page(write, ONE, "Pa", "first", [])
    write(f"in/images/{ONE[:3]}/{ONE}/image-url.txt", "https://example.org/image.png")
    (tmp_path / "in" / "images" / TWO[:3] / TWO).mkdir(parents=True)
    return tmp_path / "in"


def test_an_image_has_its_pages_and_files_may_be_missing(folder: Path) -> None:
    documents = find_documents(folder)
    assert isinstance(documents, Images)
    results = (SearchResult("1", "tenure good", 3), SearchResult("1", "tenure anti", 2))
    first = ImagePage("Pa", "https://example.org/Pa", "first", ())
    second = ImagePage("Pb", "https://example.org/Pb", "second tenure", results)
    one = Image(ONE, "https://example.org/image.png", (first, second))
    assert [*documents] == [*documents] == [one, Image(TWO, "", ())]
    assert one.text == "first\n\nsecond tenure"


def test_other_names_are_not_images(write: Write, folder: Path) -> None:
    for name in ("images/I05/notes/x.txt", "images/README/I0500/x", "images/.I05/x", "images/I05/I0/x"):
        write(f"in/{name}", "")
    assert [image.id for image in find_documents(folder)] == [ONE, TWO]
    for name in ("Images", "images.gz"):  # folders that are only named like it
        write(f"in/{name}/{TWO[:3]}/{TWO}/image-url.txt", "")
    assert [image.id for image in find_documents(folder)] == [ONE, TWO]
    shutil.rmtree(folder / "Images")
    shutil.rmtree(folder / "images.gz")
    shutil.rmtree(folder / "images")
    write("in/images/logo.png", "")
    with pytest.raises(InputError, match="no documents"):
        find_documents(folder)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('{"topic": "1", "query": "x"', "broken JSON"),
        ('{"topic": "1", "query": "x"}', "rank"),
        ('{"topic": "1", "query": "x", "rank": "2"}', "rank"),
        ('{"topic": "1", "query": "x", "rank": 0}', "rank"),
        ('{"query": "x", "rank": 1}', "topic"),
    ],
)
def test_a_broken_line_of_a_ranking_is_named(
    write: Write, folder: Path, touche: Touche, line: str, word: str
) -> None:
    path = write(f"in/images/{TWO[:3]}/{TWO}/pages/Pc/rankings.jsonl", f"{json.dumps(GOOD)}\n{line}\n")
    code, _, err = touche("run", "minsc", "-i", folder, "-o", folder / "out")
    assert code == 2 and f"{path}:2: " in err and word in err
    assert not (folder / "out" / "run.txt").exists()


def test_links_are_not_followed(folder: Path, write: Write) -> None:
    secret = write("secret.txt", "secret")
    text = folder / "images" / ONE[:3] / ONE / "pages" / "Pa" / "snapshot" / "text.txt"
    text.unlink()
    text.symlink_to(secret)
    with pytest.raises(InputError, match="text"):
        list(find_documents(folder))


def test_a_record_of_ir_datasets_is_the_same_image(folder: Path) -> None:
    (image, _) = find_documents(folder)
    pages = [
        SimpleNamespace(
            page_id=page.id,
            url=page.url,
            text=page.text,
            rankings=[SimpleNamespace(query_id=r.topic, query=r.query, rank=r.rank) for r in page.results],
        )
        for page in image.pages
    ]
    assert convert_record(SimpleNamespace(doc_id=ONE, url=image.url, phash="1", pages=pages)) == image
    assert isinstance(image.pages[0], ImagePage)


def test_metadata_know_a_folder_of_images_by_its_files(write: Write, folder: Path, touche: Touche) -> None:
    assert touche("run", "minsc", "-i", folder, "-o", folder / "out")[0] == 0
    entry = yaml.safe_load((folder / "out" / "ir-metadata.yml").read_text())["data"]["test collection"][
        "files"
    ]["images/"]
    files = [path for path in (folder / "images").rglob("*") if path.is_file()]
    assert (entry["files"], entry["bytes"]) == (len(files), sum(path.stat().st_size for path in files))


def test_minsc_uses_the_best_rank_in_all_pages(write: Write, folder: Path) -> None:
    """ONE is CON by rank 2; of equal ranks of TWO, PRO wins; other queries are ignored."""
    page(write, TWO, "Pc", None, [ANTI, {**GOOD, "rank": 2}, {**GOOD, "query": "tenure", "rank": 1}])
    run = package.run("minsc", folder)
    assert run.text() == f"1 PRO {TWO} 1 0.99 touche-minsc\n1 CON {ONE} 1 0.99 touche-minsc\n"


def test_bm25_gives_both_stances_the_same_images(folder: Path) -> None:
    run = package.run("bm25-images", folder, stance="both")
    assert [(line.stance, line.document, line.rank) for line in run] == [("PRO", ONE, 1), ("CON", ONE, 1)]
    assert [line.stance for line in package.run("bm25-images", folder)] == ["PRO"]


def test_terriers_idf_is_negative_for_a_term_of_most_images(write: Write, folder: Path) -> None:
    """Its words are ASCII; it omits stop words and those with 5 digits, 4 equal characters or 21 letters."""
    page(write, TWO, "Pc", "Tenures' tenur\u00e9, whereas 1234a5 baaaab abcdefghijklmnopqrstu")
    run = package.run("bm25-images", folder)
    # idf = log2((2 - 2 + 0.5) / (2 + 0.5)); tf = 1 and 2; lengths 3 and 2, mean 2.5
    idf = -2.321928
    expected = [idf * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * length / 2.5)) for tf, length in ((1, 3), (2, 2))]
    assert run.scores.tolist() == pytest.approx(expected, abs=1e-5)


def test_random_images_depend_on_the_seed_only(write: Write, tmp_path: Path) -> None:
    write("in/queries.jsonl", '{"qid": "1", "query": "?"}\n')
    for digit in "0123456789abcdef":
        page(write, f"I{digit}0{digit * 14}", "Pa", "text")
    runs = (package.run("random-images", tmp_path / "in", seed=seed) for seed in (1, 1, 2))
    first, again, other = (run.documents.tolist() for run in runs)
    assert first == again != other
    assert len(set(first[:10])) == len(set(first[10:])) == 10 and first[:10] != first[10:]
