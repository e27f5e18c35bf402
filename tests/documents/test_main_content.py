import time

import pytest

from touche.documents.html import main_content as rules
from touche.documents.html.main_content import main_content, shortened

PROSE = "We slept under the wool duvet for a winter."


@pytest.mark.parametrize(
    ("rendered", "expected"),
    [
        (PROSE + " It was warm.", PROSE + " It was warm."),
        ("It was warm. And so was I, for a whole winter.", ""),  # 46 characters
        ("It was warm. And so was I, for a long old winter.", ""),  # 49
        (
            "It was warm. And so was I, for a long cold winter.",
            "It was warm. And so was I, for a long cold winter.",
        ),
        (f"{PROSE}\nIt was warm.", ""),  # no paragraph is long enough
        (f"  {PROSE}\t\t{PROSE}\n\nHome", f"{PROSE} {PROSE}"),  # cells of a row are one paragraph
        (f"{PROSE} Buy now! {PROSE}", f"{PROSE} {PROSE}"),  # without a stop word
        (f"{PROSE} It is 1 2 3 4 5 6. {PROSE}", f"{PROSE} {PROSE}"),  # with too few letters
        (f"{PROSE} It is 1 2 3. {PROSE}", f"{PROSE} {PROSE}"),  # two of six, with the full stop
        (f"{PROSE} It is 1. {PROSE}", f"{PROSE} It is 1. {PROSE}"),  # two of four
        (f"{PROSE} But, don't!  {PROSE}", f"{PROSE} {PROSE}"),  # one of four, because don't has a sign in it
        (f"{PROSE} BUT HE SAID: NO, (NO)! {PROSE}", f"{PROSE} BUT HE SAID: NO, (NO)! {PROSE}"),
        ("", ""),
    ],
)
def test_the_sentences_that_are_main_content(rendered: str, expected: str) -> None:
    assert main_content(rendered) == expected


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("By Dr. med. Wool, on p. 7, e.g., it is. A.", ["By Dr. med.", "Wool, on p. 7, e.g., it is.", "A."]),
        ("«So?» he said. (No.) “Well…” But.", ["«So?» he said.", "(No.)", "“Well…”", "But."]),
        ("It cost 3.50 at a.example. Then. - No. 5", ["It cost 3.50 at a.example.", "Then. - No.", "5"]),
    ],
)  # fmt: skip
def test_where_sentences_end(paragraph: str, sentences: list[str]) -> None:
    assert rules._sentences(paragraph) == sentences


@pytest.mark.parametrize(
    ("text", "length", "cut"),
    [
        ("wool and down", 13, "wool and down"),
        ("wool and down", 12, "wool and"),  # 60% is 7
        ("wool and down", 8, "wool and"),  # a word ends there
        ("wool and down", 7, "wool"),  # 60% is 4
        ("wool-and down", 7, "wool-an"),
        ("a woollen-duvet", 9, "a woollen"),  # 60% is 5: not at the blank
        ("wool and  ", 9, "wool and"),
        ("wool", 9, "wool"),
    ],
)
def test_texts_are_cut_at_words(text: str, length: int, cut: str) -> None:
    assert shortened(text, length) == cut


@pytest.mark.parametrize("text", ["!", ". ", ".'", "a'", "a.", ".,", "a ", "( ", "Is it? "])
def test_the_time_grows_with_the_length(text: str) -> None:
    started = time.process_time()
    main_content(text * (300_000 // len(text)))
    assert time.process_time() - started < 2  # of a second or less; by the square it would be hours
