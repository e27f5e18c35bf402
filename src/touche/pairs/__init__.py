"""Pairs of sentences: sentences of arguments, their pairs, and the coherence of pairs."""

from touche.pairs.coherence import measure_named as measure_named
from touche.pairs.embeddings import CHECKSUMS as CHECKSUMS
from touche.pairs.embeddings import DIMENSIONS as DIMENSIONS
from touche.pairs.embeddings import LENGTH as LENGTH
from touche.pairs.embeddings import Encoder as Encoder
from touche.pairs.embeddings import embed as embed
from touche.pairs.ranking import Arguments as Arguments
from touche.pairs.ranking import Pair as Pair
from touche.pairs.ranking import Ranked as Ranked
from touche.pairs.ranking import ScoredSentence as ScoredSentence
from touche.pairs.ranking import best_pairs as best_pairs
from touche.pairs.ranking import by_dirichletlm as by_dirichletlm
from touche.pairs.ranking import hits as hits
from touche.pairs.ranking import ordered_pair as ordered_pair
from touche.pairs.ranking import pair_in_argument as pair_in_argument
from touche.pairs.sentences import distinct_sentences as distinct_sentences
