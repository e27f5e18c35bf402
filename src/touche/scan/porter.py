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
    word = _remove_past_ending(_remove_plural(word))
    if word.endswith("y") and "v" in _vowel_pattern(word[:-1]):  # step 1c, as in happy, but not in sky
        word = word[:-1] + "i"
    for rules in (_STEP_2, _STEP_3):
        word = _replace_suffix(word, rules)
    return _tidy_last_letters(_remove_suffix(word))


def _remove_plural(word: str) -> str:
    """Step 1a: caresses becomes caress, ponies poni, and cats cat."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("ss"):
        return word
    return word.removesuffix("s")


def _remove_past_ending(word: str) -> str:
    """Step 1b: removes ed and ing after a vowel, and replaces eed by ee."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    rest = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    # The word doesn't end with ed or ing, or there is no vowel before the ending, as in sing.
    if rest == word or "v" not in _vowel_pattern(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):  # as in conflated, troubled and sized
        return rest + "e"
    has_double_consonant = rest[-1:] == rest[-2:-1] and _vowel_pattern(rest)[-1] == "c"
    if has_double_consonant:  # hopping becomes hop, but falling, hissed and fizzed keep both consonants
        return rest if rest[-1] in "lsz" else rest[:-1]
    if _measure(rest) == 1 and _ends_with_short_syllable(rest):  # as in filing
        return rest + "e"
    return rest


def _replace_suffix(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """Steps 2 and 3: replaces the first suffix in the rules that the word ends with, unless the rest of the
    word is too short.
    """
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return rest + replacement if _measure(rest) > 0 else word
    return word


def _remove_suffix(word: str) -> str:
    """Step 4: removes the first suffix in the list that the word ends with, unless the rest of the word is
    too short.
    """
    for suffix in _STEP_4:
        if word.endswith(suffix):
            # Porter's rule removes ion only after s or t, so that these letters stay.
            removed = "ion" if suffix in ("sion", "tion") else suffix
            rest = word.removesuffix(removed)
            return rest if _measure(rest) > 1 else word
    return word


def _tidy_last_letters(word: str) -> str:
    """Step 5: removes a final e, and one l of a final ll, unless the word is too short."""
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_with_short_syllable(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        return word[:-1]
    return word


def _vowel_pattern(word: str) -> str:
    """Returns v for each vowel and c for each consonant; y is a vowel after a consonant."""
    pattern = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and pattern.endswith("c"))
        pattern += "v" if is_vowel else "c"
    return pattern


def _measure(word: str) -> int:
    """Returns how often a consonant follows a vowel: Porter's m."""
    return _vowel_pattern(word).count("vc")


def _ends_with_short_syllable(word: str) -> bool:
    """Returns whether a word ends with consonant, vowel, consonant, and not with w, x or y."""
    return _vowel_pattern(word)[-3:] == "cvc" and word[-1] not in "wxy"
