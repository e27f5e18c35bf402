"""Porter's stemmer (Porter 1980) with the endings bli and logi, as in Lucene and Porter's later programs.

``touche.scan.tokens`` defines the analysis ``english``, which uses it.
"""

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"),
    ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion",
    "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """Returns the stem of a word in lower case; words of up to two letters stay unchanged.

    Args:
        word: the word in lower case.
    """
    if len(word) <= 2:
        return word
    word = _endings(_plural(word))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    for rules in (_STEP_2, _STEP_3):
        word = _replaced(word, rules)
    return _last_letters(_suffix_cut(word))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _endings(word: str) -> str:
    """Step 1b: eed, ed and ing."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    rest = next((word.removesuffix(suffix) for suffix in ("ed", "ing") if word.endswith(suffix)), "")
    if "v" not in _shape(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _double(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _short(rest) else rest


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for suffix, other in rules:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return rest + other if _measure(rest) > 0 else word
    return word


def _suffix_cut(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            end = len(word) - len(suffix) + suffix.endswith("ion")  # the first letter of sion and tion stays
            return word[:end] if _measure(word[:end]) > 1 else word
    return word


def _last_letters(word: str) -> str:
    """Step 5: final e, and double l."""
    if word.endswith("e"):
        measure = _measure(word)
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _shape(word: str) -> str:
    """Returns v for each vowel and c for each consonant; y is a vowel after a consonant."""
    shape = "c"
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1] == "c" and len(shape) > 1)
        shape += "v" if vowel else "c"
    return shape[1:]


def _measure(word: str) -> int:
    """Returns how often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _short(word: str) -> bool:
    """Returns whether a word ends with consonant, vowel, consonant, and not with w, x or y."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"
