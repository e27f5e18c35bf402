"""Documents, as every reader of a format yields them."""

from dataclasses import dataclass

from touche.formats.pages import Page


@dataclass(frozen=True, slots=True)
class Document:
    """A passage, or whatever else has an id and a text.

    Attributes:
        id: the id.
        text: all that is searched.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an argument.

    Attributes:
        id: the id in the corpus of 2022, such as ``S1-A1__PREMISE__2``.
        text: the sentence.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the args.me corpus.

    Attributes:
        id: the id, such as ``S1039ff27-Afc270c6``.
        conclusion: the claim.
        premises: the texts of the reasons, nearly always one.
        stance: ``PRO`` or ``CON``, the stance of the premises towards the conclusion; empty where unknown.
        sentences: the sentences of the conclusion, then those of the premises, as in the processed corpus of
            2022; None where the corpus is not split.
        page: the text of the web page that it was found on; empty where the corpus lacks it.
        discussion: the title of the debate that it is from; empty where the file has none.
    """

    id: str
    conclusion: str
    premises: tuple[str, ...]
    stance: str = ""
    sentences: tuple[Sentence, ...] | None = None
    page: str = ""
    discussion: str = ""

    @property
    def text(self) -> str:
        """Premises, a space, and the conclusion: one field, as in TIRA's copy of the corpus."""
        return " ".join((*self.premises, self.conclusion))


AnyDocument = Document | Argument | Page
"""A document of any kind: each has ``id`` and ``text``."""


def premises_of(document: AnyDocument) -> str:
    """The reasons of an argument, joined by spaces; of what is no argument, the text.

    Args:
        document: of any kind.
    """
    return " ".join(document.premises) if isinstance(document, Argument) else document.text


def page_of(document: AnyDocument) -> str:
    """The text of the web page that an argument was found on; empty where there is none.

    Args:
        document: of any kind.
    """
    return document.page if isinstance(document, Argument) else ""


def discussion_of(document: AnyDocument) -> str:
    """The title of the debate that an argument is from; empty where there is none.

    Args:
        document: of any kind.
    """
    return document.discussion if isinstance(document, Argument) else ""


def conclusion_of(document: AnyDocument) -> str:
    """The claim of an argument; of what is no argument, an empty text.

    Args:
        document: of any kind.
    """
    return document.conclusion if isinstance(document, Argument) else ""
