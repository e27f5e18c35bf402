"""What engines keep of a document's length."""

from collections.abc import Callable, Mapping

from touche.identify.samples import Array
from touche.scan.lengths import before_lucene_7, exact, one_byte

LENGTHS: Mapping[str, Callable[[Array], Array]] = {
    "one byte": one_byte,
    "before Lucene 7": before_lucene_7,
    "exact": exact,
}
