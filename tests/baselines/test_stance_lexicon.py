import pytest

from touche import baselines
from touche.documents.document_records import Document
from touche.trec.topics import Topic

PETS = Topic("1", "Is a cat or a dog the better pet?", objects=("cat", "house dog"))


def stance(text: str, topic: Topic = PETS, **options: object) -> str:
    documents = [Document("d", f"pet {text}"), Document("other", "fish")]
    _, hits = next(iter(baselines.load("stance-lexicon")([topic], documents, **options)))
    return next(label for document, _, label in hits if document == "d")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cats are best.", "FIRST"),
        ("Dogs are the worst", "FIRST"),
        ("a DOG is better", "SECOND"),
        ("cats are bad, far worse", "SECOND"),
        ("Best cat, I say to everybody who asks me, best dog", "NEUTRAL"),
        ("cat best dog", "NEUTRAL"),  # equally near to both
        ("cats and dogs", "NO"),
        ("the best of all", "NO"),
        ("cat one two three four best", "FIRST"),
        ("cat one two three four five best", "NO"),
        ("category is best", "NO"),
    ],
)
def test_the_nearer_object_gets_the_opinion(text: str, expected: str) -> None:
    assert stance(text) == expected


@pytest.mark.parametrize(
    ("objects", "text", "expected"),
    [
        (("gas stove", "induction stove"), "the best stove", "NO"),
        (("gas stove", "induction stove"), "the best gas stove", "FIRST"),
        ((), "the best gas", "Q0"),
        (("car", "electric car"), "the best electric car", "SECOND"),
        (("car", "electric car"), "the best car", "NO"),
        (("The Simpsons", "Lost"), "the best", "NO"),
        (("The Simpsons", "Lost"), "the best Simpsons", "FIRST"),
    ],
)
def test_words_of_both_objects_name_neither(objects: tuple[str, ...], text: str, expected: str) -> None:
    assert stance(text, Topic("1", "Which pet?", objects=objects)) == expected


@pytest.mark.parametrize(("window", "expected"), [(3, "NO"), (4, "FIRST")])
def test_the_window_is_an_option(window: int, expected: str) -> None:
    assert stance("cat is really the best", window=window) == expected


def test_bm25_gives_one_stance_where_objects_are_compared() -> None:
    bm25 = baselines.load("bm25")
    documents = [Document("d", "pet"), Document("other", "fish")]
    (_, hits), (_, plain) = bm25([PETS, Topic("2", "pet")], documents)
    assert [(document, stance) for document, _, stance in hits] == [("d", "NO")]
    assert [len(hit) for hit in plain] == [2]
    _, hits = next(iter(bm25([PETS], documents, stance="NEUTRAL")))
    assert hits[0][2] == "NEUTRAL"
