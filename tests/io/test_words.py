import random
import re

import pytest

from conftest import ROOT
from neighbours import neighbour
from touche import baselines, scan, words
from touche.documents.document_records import Document
from touche.trec.topics import Topic

MARKED = [
    "\u0939\u093f\u0928\u094d\u0926\u0940",  # Hindi
    "\u0e40\u0e1b\u0e47\u0e19",  # Thai
    "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",  # Hebrew with points
    "\u0628\u0650\u0633\u0652\u0645\u0650",  # Arabic with vowels
    "\u0ba4\u0bae\u0bbf\u0bb4\u0bcd",  # Tamil
    "cafe\u0301s",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian with a joiner
    "\U00011013\U00011038\U00011013",  # Brahmi, beyond 16 bits
]
STARTER = str(ROOT / "src/touche/baselines/starter/my-team")


@pytest.mark.parametrize("word", MARKED)
def test_a_word_is_whole_with_its_marks_as_for_lucene(word: str) -> None:
    text = f"a {word}, ({word}) b"
    assert words(text) == ["a", word, word, "b"] == scan.terms(text, "standard")


def test_words_of_the_toy_collection_are_those_of_a_regular_expression() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "corpora").rglob("*.jsonl")]
    assert texts and all(words(text) == re.findall(r"\w+", text) for text in texts)
    assert words("C++, C# or C_3?", also="+#") == ["C++", "C#", "or", "C_3"]


@pytest.mark.parametrize("baseline", ["bm25", "rank-bm25", STARTER])
@pytest.mark.parametrize("word", MARKED)
def test_a_document_without_a_word_of_the_title_does_not_match(baseline: str, word: str) -> None:
    letters = [char for char in word if char.isalnum()]
    other = "\u0301".join(random.Random(1).sample(letters, len(letters)))  # the same letters, other marks
    documents = [Document("same", f"{word} x"), Document("other", f"{other} x"), Document("third", "y z")]
    ((_, hits),) = baselines.load(baseline)([Topic("1", word)], documents)
    assert [hit[0] for hit in hits] == ["same"]


def test_a_compared_object_is_not_split_at_its_marks() -> None:
    stances = neighbour("stance-lexicon", "stances")
    assert stances.words(f"{MARKED[0]} C++") == [MARKED[0], "c++"]
