"""Words split once and mapped one by one, as an analyzer would."""

from touche.identify import chains


def test_words_keep_their_case_and_are_mapped_one_to_one() -> None:
    assert chains.split(["The cat's tails, U.S.A.", ""]) == [["The", "cat's", "tails", "U.S.A"], []]
    filters = ("englishPossessive", "lowercase", "porterStem")
    assert chains.mapped(["The", "cat's", "Running", "'s"], filters) == ["the", "cat", "run", ""]
    assert chains.mapped(["The"], ()) == ["The"]


def test_lists_of_stop_words_are_as_long_as_they_are_called() -> None:
    assert {name: len(chains.stop_words(name)) for name in chains.STOP_LISTS} == {
        "none": 0,
        "Lucene's 33 English": 33,
        "Snowball's 174 English": 174,
    }
