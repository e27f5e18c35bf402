"""Documents of each kind that readers yield.

Each reader is a module of this package. ``touche.documents.discovery`` lists them by file name.
"""

from dataclasses import dataclass

from touche.documents.pages import Page

IDS = ("docno", "doc_id", "id", "_id")  # names of the field with the id; the first one in a record counts


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
        premises: the texts of the premises, nearly always one.
        stance: ``PRO`` or ``CON``, the stance of the premises towards the conclusion; empty if unknown.
        sentences: the sentences of the conclusion, then those of the premises, as in the processed corpus of
            2022; None if the corpus is not split.
        page: the text of the argument's web page; empty if the corpus lacks it.
        discussion: the title of the argument's debate; empty if the file lacks it.
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
    """A result of a web search engine.

    Attributes:
        topic: the number of the topic.
        query: the query for the topic.
        rank: the rank of the result, from 1.
    """

    topic: str
    query: str
    rank: int


@dataclass(frozen=True, slots=True)
class ImagePage:
    """A web page with an image.

    Attributes:
        id: the id of the page.
        url: the address of the page; empty if it is unknown.
        text: the text of the page.
        results: where a search engine had the image on this page among its results.
    """

    id: str
    url: str
    text: str
    results: tuple[SearchResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """An image of the web.

    Attributes:
        id: the id, such as ``I0538673fe011264e``.
        url: the address of the image; empty if it is unknown.
        pages: the pages with the image.
    """

    id: str
    url: str
    pages: tuple[ImagePage, ...]

    @property
    def text(self) -> str:
        """The texts of all pages, with blank lines between them."""
        return "\n\n".join(page.text for page in self.pages).strip()


AnyDocument = Document | Argument | Page | Image
"""A document of any kind: each has ``id`` and ``text``."""


def premises_of(document: AnyDocument) -> str:
    """Returns the premises of an argument, joined by spaces, or the text of another document.

    Args:
        document: a document of any kind.

    Returns:
        The premises of the argument, or the text.

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

    Returns:
        The text of the page.

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

    Returns:
        The title of the debate.

    Examples:
        >>> import touche
        >>> argument = touche.Argument("a1", "Coal is dirty.", ("It smokes.",), discussion="Energy")
        >>> touche.discussion_of(argument)
        'Energy'
    """
    return document.discussion if isinstance(document, Argument) else ""


def conclusion_of(document: AnyDocument) -> str:
    """Returns the conclusion of an argument; empty for other documents.

    Args:
        document: a document of any kind.

    Returns:
        The conclusion.

    Examples:
        >>> import touche
        >>> argument = touche.Argument("a1", "Coal is dirty.", ("It smokes.",))
        >>> touche.conclusion_of(argument)
        'Coal is dirty.'
    """
    return document.conclusion if isinstance(document, Argument) else ""
