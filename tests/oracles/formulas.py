"""The formulas of the baselines in plain Python, written from their definitions, not from Lucene."""

from math import e, log, log2, pi

from touche.scan.statistics import Term


def length_in_one_byte(tokens: int) -> int:
    """Returns a length as in Lucene: below 24 exact, then 24 plus the four leading bits of the rest."""
    if tokens < 24:
        return tokens
    cut = max(0, (tokens - 24).bit_length() - 4)
    return 24 + ((tokens - 24) >> cut << cut)


def lm_dirichlet(tf: float, length: float, ttf: int, tokens: int, mu: float) -> float:
    """Returns Lucene's LMDirichlet score of a term."""
    return max(0.0, log(1 + tf / (mu * (ttf + 1) / (tokens + 1))) + log(mu / (mu + length)))


def bm25(tf: float, length: float, mean: float, df: int, documents: int) -> float:
    """Returns a term's score with k1 = 1.2 and b = 0.75, as Lucene since version 8."""
    idf = log(1 + (documents - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + 1.2 * (0.25 + 0.75 * length / mean))


def dph(tf: float, length: float, term: Term) -> float:
    f = tf / length if tf < length else 0.99999  # as in Terrier
    avgdl = term.tokens / term.documents
    gain = tf * log2((tf * avgdl / length) * (term.documents / term.ttf)) + 0.5 * log2(2 * pi * tf * (1 - f))
    return (1 - f) * (1 - f) / (tf + 1) * gain


def dlh(tf: float, length: float, term: Term) -> float:
    f = tf / length if tf < length else 0.99999  # as in Terrier
    avgdl = term.tokens / term.documents
    gain = tf * log2((tf * avgdl / length) * (term.documents / term.ttf))
    return (gain + (length - tf) * log2(1 - f) + 0.5 * log2(2 * pi * tf * (1 - f))) / (tf + 0.5)


def pl2(tf: float, length: float, term: Term, c: float = 1) -> float:
    """In Terrier's notation."""
    tfn = tf * log2(1 + c * term.tokens / term.documents / length)
    f = term.ttf / term.documents
    gain = tfn * log2(1 / f) + f * log2(e) + 0.5 * log2(2 * pi * tfn) + tfn * (log2(tfn) - log2(e))
    return gain / (tfn + 1)
