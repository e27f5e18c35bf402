"""The kinds of documents that readers yield.

Each reader is a module of this package. ``touche.documents.discovery`` lists them by file name.
"""

from dataclasses import dataclass

from touche.documents.pages import Page

IDS = ("docno", "doc_id", "id", "_id")  # id fields; the first one present is used


@dataclass(frozen=True, slots=True)
class Document:
    """A passage, or any other text with an id.

    Attributes:
        id: the id.
        text: the searchable text.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an argument.

    Attributes:
        id: the id in the 2022 corpus, such as ``S1-A1__PREMISE__2``.
        text: the sentence.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument from the args.me corpus.

    Attributes:
        id: the id, such as ``S1039ff27-Afc270c6``.
        conclusion: the claim.
        premises: the premises, nearly always one.
        stance: the premises' stance towards the conclusion, ``PRO`` or ``CON``; empty if unknown.
        sentences: the conclusion's sentences, then the premises', as in the processed 2022 corpus; None if
            the corpus is not split.
        page: the text of the argument's web page; empty if the corpus doesn't contain it.
        discussion: the title of the argument's debate; empty if the file doesn't contain it.
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
        """The premises, a space, and the conclusion: one field, as in TIRA's copy of the corpus."""
        return " ".join((*self.premises, self.conclusion))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A web search engine's result.

    Attributes:
        topic: the topic's number.
        query: the query for the topic.
        rank: the result's rank, from 1.
    """

    topic: str
    query: str
    rank: int


@dataclass(frozen=True, slots=True)
class ImagePage:
    """A web page that shows an image.

    Attributes:
        id: the page's id.
        url: the page's address; empty if unknown.
        text: the page's text.
        results: where a search engine ranked the image on this page.
    """

    id: str
    url: str
    text: str
    results: tuple[SearchResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """An image from the web.

    Attributes:
        id: the id, such as ``I0538673fe011264e``.
        url: the image's address; empty if unknown.
        pages: the pages that show the image.
    """

    id: str
    url: str
    pages: tuple[ImagePage, ...]

    @property
    def text(self) -> str:
        """The texts of all pages, separated by blank lines."""
        return "\n\n".join(page.text for page in self.pages).strip()


AnyDocument = Document | Argument | Page | Image
"""A document of any kind: each has ``id`` and ``text``."""


def premises_of(document: AnyDocument) -> str:
    """Returns an argument's premises, joined by spaces, or another document's text.

    Args:
        document: a document of any kind.

    Examples:
        >>> import touche
        >>> argument = touche.Argument("a1", "Coal is dirty.", ("It smokes.", "It stinks."))
        >>> touche.premises_of(argument)
        'It smokes. It stinks.'
    """
    return " ".join(document.premises) if isinstance(document, Argument) else document.text


def page_of(document: AnyDocument) -> str:
    """Returns the text of an argument's web page; empty for other documents.

    Args:
        document: a document of any kind.

    Examples:
        >>> import touche
        >>> argument = touche.Argument("a1", "Coal is dirty.", ("It smokes.",), page="All about coal")
        >>> touche.page_of(argument)
        'All about coal'
    """
    return document.page if isinstance(document, Argument) else ""


def discussion_of(document: AnyDocument) -> str:
    """Returns the title of an argument's debate; empty for other documents.

    Args:
        document: a document of any kind.

    Examples:
        >>> import touche
        >>> argument = touche.Argument("a1", "Coal is dirty.", ("It smokes.",), discussion="Energy")
        >>> touche.discussion_of(argument)
        'Energy'
    """
    return document.discussion if isinstance(document, Argument) else ""


def conclusion_of(document: AnyDocument) -> str:
    """Returns an argument's conclusion; empty for other documents.

    Args:
        document: a document of any kind.

    Examples:
        >>> import touche
        >>> argument = touche.Argument("a1", "Coal is dirty.", ("It smokes.",))
        >>> touche.conclusion_of(argument)
        'Coal is dirty.'
    """
    return document.conclusion if isinstance(document, Argument) else ""
