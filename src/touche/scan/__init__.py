"""Ranks without an index: the topics are known, so that one reading of the collection is enough."""

from touche.scan.counting import Fields as Fields
from touche.scan.kernel import Array as Array
from touche.scan.lengths import before_lucene_7 as before_lucene_7
from touche.scan.lengths import exact as exact
from touche.scan.models import Formula as Formula
from touche.scan.models import Weighted as Weighted
from touche.scan.models import bm25 as bm25
from touche.scan.models import dirichletlm as dirichletlm
from touche.scan.models import dlh as dlh
from touche.scan.models import dph as dph
from touche.scan.models import pl2 as pl2
from touche.scan.ranking import Collection as Collection
from touche.scan.ranking import Queries as Queries
from touche.scan.ranking import Scoring as Scoring
from touche.scan.ranking import rank as rank
from touche.scan.reading import picked as picked
from touche.scan.statistics import Statistics as Statistics
from touche.scan.statistics import Term as Term
from touche.scan.tokens import terms as terms
