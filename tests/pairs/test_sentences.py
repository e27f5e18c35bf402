import pytest

from touche.documents.document_records import Argument, Document, Sentence
from touche.errors import ToucheError
from touche.pairs.sentences import arguments_in_sentences, split_argument


def test_sentences_are_numbered_in_the_official_way() -> None:
    argument = Argument("S1-A1", "Zoos are bad", ("Cages are small. Who said 3.5 m? I did.", "They are."))
    assert split_argument(argument).sentences == (
        Sentence("S1-A1__CONC__1", "Zoos are bad"),
        Sentence("S1-A1__PREMISE__1", "Cages are small."),
        Sentence("S1-A1__PREMISE__2", "Who said 3.5 m?"),
        Sentence("S1-A1__PREMISE__3", "I did."),
        Sentence("S1-A1__PREMISE__4", "They are."),
    )


def test_a_conclusion_of_one_word_and_an_empty_premise_are_no_sentences() -> None:
    (only,) = split_argument(Argument("S1-A1", "Homeschooling", ("", "  ", "It is good."))).sentences or ()
    assert only == Sentence("S1-A1__PREMISE__1", "It is good.")


def test_what_is_split_stays_as_it_is_and_what_is_no_argument_is_refused() -> None:
    argument = Argument("S1-A1", "a b", ("c. d.",), sentences=(Sentence("S1-A1__CONC__1", "a b"),))
    assert list(arguments_in_sentences([argument])) == [argument]
    with pytest.raises(
        ToucheError, match=r"document .d. is not an argument, so it has no sentences to pair; pass args_p"
    ):
        list(arguments_in_sentences([Document("d", "text")]))
