"""Reads 100,000 seeded inputs with the compiled parts, which `make sanitize` has built with sanitizers.

A sanitizer ends the process at the first fault. The input of that moment remains in build/sanitize/.
"""

from collections import Counter
from itertools import product
from random import Random

import samples
from inputs import MUTATIONS
from readers import READERS

from conftest import ROOT
from touche.errors import ToucheError
from touche.scan import kernel
from touche.scan.counting import Vocabulary
from touche.scan.tokens import _ANALYSES, words

INPUTS = 100_000
FOLDER = ROOT / "build" / "sanitize"
FILES = ("args-me.json", "args_processed.csv")
LARGE = ("gzip", "huge", "many", "deep", "nuls", "noise")  # files that are slow to read
SMALL = [mutation for name, mutation in MUTATIONS.items() if not any(word in name for word in LARGE)]
TEXT = samples.ARGUMENTS + samples.HTML + samples.PAGES


def spoilt(content: bytes, random: Random) -> bytes:
    """Returns a file with one to three small mutations."""
    for mutation in random.choices(SMALL, k=random.randint(1, 3)):
        content = mutation(content, random)
    return content


def read_file(name: str, random: Random) -> str:
    """Returns whether a corrupted file is read, or refused."""
    path = FOLDER / name
    path.write_bytes(spoilt(READERS[name].content, random))
    try:
        READERS[name].read(path)  # type: ignore[operator]
    except ToucheError:
        return f"{name} refused"
    return f"{name} read"


def count_texts(counters: list[kernel.Counter], random: Random) -> str:
    """Counts arbitrary bytes by every analysis, with and without positions."""
    begin = random.randrange(len(TEXT))
    texts = [random.randbytes(random.randrange(200)), spoilt(TEXT[begin : begin + 200], random)]
    (FOLDER / "texts").write_bytes(b"\n".join(texts))
    for counter in counters:
        counter.read(texts)
    return "texts counted"


def main() -> None:
    """Reads all inputs, and prints the number of each outcome."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    title = " ".join(words(TEXT.decode("utf-8", "replace")))
    outcomes = Counter[str]()
    for number in range(INPUTS):
        if number % 1000 == 0:  # new ones, so that old ones are freed
            kinds = product(_ANALYSES, (False, True))
            counters = [Vocabulary.of([title], kind).counter(placed=placed) for kind, placed in kinds]
        random = Random(number)
        name = (*FILES, "texts")[number % 3]
        outcomes[count_texts(counters, random) if name == "texts" else read_file(name, random)] += 1
    print(", ".join(f"{ended}: {times}" for ended, times in sorted(outcomes.items())))


if __name__ == "__main__":
    main()
