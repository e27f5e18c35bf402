"""Lucene with ChatNoir's settings: parses titles, matches and scores pages."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from neighbours import neighbour
from touche import lucene
from touche.documents.pages import Page
from touche.lucene.analysis import analyzer_named
from touche.lucene.java import bytes_ref, java, string

fields, queries = (neighbour("chatnoir-bm25f", name) for name in ("engine.fields", "engine.query"))

_OPERATORS = {r"\s+AND\s+": " +", r"\s+OR\s+": " | "}
_QUOTED = re.compile('("[^"]*")')
_PART = re.compile(r'"[^"]*"|[^\s"]+')
_NEGATED = re.compile(r'(?:^|(?<=\s))-("[^"]*"|[^\s"]\S*)')


def lucenes(text: str, boosts: Mapping[str, float], analyses: Mapping[str, str], share: float) -> Any:
    """Returns the query of Lucene's SimpleQueryParser, which requires a number of words and phrases."""
    analyzer = per_field(analyses)
    if share == 1.0:
        return _parsed(text, analyzer, boosts, every=True)
    without_operators = _with_operators(_NEGATED.sub(" ", text), dict.fromkeys(_OPERATORS, " "))
    parts = [_parsed(part, analyzer, boosts, every=True) for part in _PART.findall(without_operators)]
    parts = [
        part for part in parts if not isinstance(part, java("org.apache.lucene.search.MatchNoDocsQuery"))
    ]
    without = _parsed(" ".join(_NEGATED.findall(text)), analyzer, boosts, every=False)
    return boolean(MUST=[boolean(max(1, int(share * len(parts))), SHOULD=parts)], MUST_NOT=[without])


def per_field(analyses: Mapping[str, str]) -> Any:
    """An analyzer with exceptions for some fields."""
    by_field = java("java.util.HashMap")(
        {name: analyzer_named(analysis.removesuffix("-alnum")) for name, analysis in analyses.items()}
    )
    wrapper = java("org.apache.lucene.analysis.miscellaneous.PerFieldAnalyzerWrapper")
    return wrapper(analyzer_named("plural"), by_field)


def boolean(least: int = 0, **clauses: Sequence[Any]) -> Any:
    """A BooleanQuery."""
    builder = java("org.apache.lucene.search.BooleanQuery").Builder()
    for how, some in clauses.items():
        for query in some:
            builder.add(query, getattr(java("org.apache.lucene.search.BooleanClause").Occur, how))
    return builder.setMinimumNumberShouldMatch(least).build()


def boosted(query: Any, boost: float) -> Any:
    """A BoostQuery."""
    return java("org.apache.lucene.search.BoostQuery")(query, boost)


def phrase(field: str, terms: Sequence[str], slop: int) -> Any:
    """A PhraseQuery."""
    builder = java("org.apache.lucene.search.PhraseQuery").Builder()
    for term in terms:
        builder.add(java("org.apache.lucene.index.Term")(field, bytes_ref(term)))
    return builder.setSlop(slop).build()


def searcher(texts: Sequence[Mapping[str, str]], analyzer: Any) -> Any:
    """An IndexSearcher of texts by field, numbered as they come."""
    config = java("org.apache.lucene.index.IndexWriterConfig")(analyzer)
    config.setSimilarity(lucene.bm25(1.2, 0.75))
    directory = java("org.apache.lucene.store.ByteBuffersDirectory")()
    writer = java("org.apache.lucene.index.IndexWriter")(directory, config)
    store = _field("Field").Store.NO
    for text_of_page in texts:
        document = _field("Document")()
        for name, text in text_of_page.items():
            document.add(_field("TextField")(name, string(text), store))
        writer.addDocument(document)
    writer.close()
    searcher = java("org.apache.lucene.search.IndexSearcher")(
        java("org.apache.lucene.index.DirectoryReader").open(directory)
    )
    searcher.setSimilarity(lucene.bm25(1.2, 0.75))
    return searcher


def scores(searcher: Any, query: Any) -> dict[int, float]:
    """Returns the scores of all matching texts by their numbers; optionally with a filter."""
    everything = java("org.apache.lucene.search.MatchAllDocsQuery")()
    hits = searcher.search(boolean(MUST=[query], FILTER=[everything]), 1 << 20).scoreDocs
    return {int(hit.doc): float(hit.score) for hit in hits}


def best(pages: Sequence[Page], collecting: Any) -> list[list[tuple[float, str, float, str]]]:
    """For each search the pages that match: score in the first query, id, score in the second, host.

    Lucene 9 stores lengths in one byte, so that ``collecting`` has to request the same.
    """
    assert collecting.length_format == "one byte"
    texts = [
        {
            name: without_signs(fields.field_text(name, page), name, collecting.analyses)
            for name in collecting.analyses
        }
        | {name: "x" if has(page) else "" for name, has in fields.LABELS.items()}
        for page in pages
    ]
    index = searcher(texts, per_field(collecting.analyses))
    rankings = []
    for search in collecting.searches:
        again = scores(index, query_of(search.second_query))
        ranking = [
            (score, pages[n].id, again.get(n, 0.0), pages[n].host or "")
            for n, score in scores(index, query_of(search.first_query)).items()
            if not fields.filter_reason(pages[n]) and (search.among is None or pages[n].id in search.among)
        ]
        rankings.append(sorted(ranking, reverse=True))
    return rankings


def without_signs(text: str, field: str, analyses: Mapping[str, str]) -> str:
    """A text without signs that are words for the StandardTokenizer, but not for that of ICU."""
    if analyses[field].endswith("-alnum"):
        return "".join(" " if unicodedata.category(sign) in ("So", "Sk") else sign for sign in text)
    return text


def query_of(query: Any) -> Any:
    """Converts a query of the replica to one of Lucene."""
    match query:
        case queries.Boosted():
            return boosted(query_of(query.query), query.boost)
        case queries.Bool():
            groups = {"MUST": query.must, "SHOULD": query.should, "FILTER": query.filters}
            groups["MUST_NOT"] = query.without
            least = 0 if query.must or query.filters else query.minimum
            return boolean(least, **{how: [*map(query_of, some)] for how, some in groups.items()})
        case queries.Combined():
            builder = java("org.apache.lucene.sandbox.search.CombinedFieldQuery").Builder()
            for field, weight in query.weights:
                builder.addField(field, java("java.lang.Float")(weight).floatValue())
            return builder.addTerm(bytes_ref(query.term)).build()
        case queries.Label():
            return java("org.apache.lucene.search.ConstantScoreQuery")(phrase(query.name, ["x"], 0))
    terms = (query.term,) if isinstance(query, queries.Term) else query.terms
    return phrase(query.field, terms, getattr(query, "slop", 0))


def record(query: Any) -> Any:
    """Converts a query of Lucene to one of the replica."""
    kind = query.getClass().getSimpleName()
    if kind == "BoostQuery":
        return queries.boosted(record(query.getQuery()), query.getBoost())
    if kind == "TermQuery":
        return queries.Term(str(query.getTerm().field()), str(query.getTerm().text()))
    if kind == "PhraseQuery":
        terms = tuple(str(term.text()) for term in query.getTerms())
        return queries.Phrase(str(query.getField()), terms, int(query.getSlop()))
    if kind == "BooleanQuery":
        return _record_of_clauses(query)
    return {"MatchAllDocsQuery": queries.EVERYTHING, "MatchNoDocsQuery": queries.NOTHING}[str(kind)]


def _record_of_clauses(query: Any) -> Any:
    clauses: dict[str, list[Any]] = {"MUST": [], "SHOULD": [], "MUST_NOT": [], "FILTER": []}
    for clause in query.clauses():
        clauses[str(clause.getOccur().name())].append(record(clause.getQuery()))
    must, should, without, filters = clauses.values()
    if must or filters:
        return queries.all_of(must, filters, without, should)
    alone = queries.any_of(should, max(1, int(query.getMinimumNumberShouldMatch())))
    return queries.all_of([alone], without=without)


def _field(name: str) -> Any:
    return java(f"org.apache.lucene.document.{name}")


def _parsed(text: str, analyzer: Any, boosts: Mapping[str, float], *, every: bool) -> Any:
    weights = java("java.util.LinkedHashMap")()
    for field, boost in boosts.items():
        weights.put(field, java("java.lang.Float")(boost))
    parser_class = java("org.apache.lucene.queryparser.simple.SimpleQueryParser")
    names = ("AND", "OR", "NOT", "PHRASE", "WHITESPACE")
    flags = sum(getattr(parser_class, f"{name}_OPERATOR") for name in names)
    parser = parser_class(analyzer, weights, flags)
    occur = java("org.apache.lucene.search.BooleanClause").Occur
    parser.setDefaultOperator(occur.MUST if every else occur.SHOULD)
    return parser.parse(string(_with_operators(text, _OPERATORS)))


def _with_operators(text: str, operators: Mapping[str, str]) -> str:
    parts = _QUOTED.split(text)
    for word, operator in operators.items():
        parts[::2] = [re.sub(word, operator, part) for part in parts[::2]]
    return "".join(parts)
