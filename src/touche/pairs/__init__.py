"""Pairs of sentences: sentences of arguments, their pairs, and the coherence of pairs."""

from touche.pairs.coherence import measure_named as measure_named
from touche.pairs.embeddings import CHECKSUMS as CHECKSUMS
from touche.pairs.embeddings import DIMENSIONS as DIMENSIONS
from touche.pairs.embeddings import LENGTH as LENGTH
from touche.pairs.embeddings import Encoder as Encoder
from touche.pairs.embeddings import embed as embed
from touche.pairs.pair_ranking import Arguments as Arguments
from touche.pairs.pair_ranking import Pair as Pair
from touche.pairs.pair_ranking import Ranked as Ranked
from touche.pairs.pair_ranking import ScoredSentence as ScoredSentence
from touche.pairs.pair_ranking import best_pairs as best_pairs
from touche.pairs.pair_ranking import by_dirichletlm as by_dirichletlm
from touche.pairs.pair_ranking import hits as hits
from touche.pairs.pair_ranking import ordered_pair as ordered_pair
from touche.pairs.pair_ranking import pair_in_argument as pair_in_argument
from touche.pairs.sentences import distinct_sentences as distinct_sentences
