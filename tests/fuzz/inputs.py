"""Bad inputs: ways to corrupt a file, each a function of its bytes and of a random number generator."""

import gzip
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

Mutation = Callable[[bytes, Random], bytes]

_TOKEN = re.compile(rb"""[^\s"'<>{}\[\](),:=]+""")
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_BAD_BYTES = (b"\xff", b"\xc3", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82")
_SIGNS = [bytes([sign]) for sign in b"\"'<>{}[]()\\,;:=&#%/-+\t\n\r\0\x1b\x7f"]
_BLANKS = ("\r", "\v", "\f", "\x1c", "\x85", "\xa0", "\u2028", "\u3000", "\u200b", "\u202e")
_NUMBERS = (
    "NaN nan Infinity -inf 1e999 -1e999 1e-999 1.0 1e3 0x10 1_0 007 -0 ınf ٣ １ ² 1,5 -9223372036854775809 "
    f"true null +1 .5 1e {'9' * 5000}"
).split()
_TEXTS = [
    *r"null true 0 [] {} é \ud800 \udc00\ud800 \u0000 \n \x1b[2J %s {0} __class__ ../.. /dev/zero".split(),
    *r"""/etc/passwd . .. a/../../b file:///etc/passwd &amp; &#0; &#xD800; ]]> ' " \ Q0 1 http://[""".split(),
    *("", " ", "a b", "e\u0301", "\U0001f600", "\x1b[31mred", "\x07", "a\tb", "a\nb", "a\r\nb"),
    *("\ufeff", "\ufffe", "\udcff", "<!--", "<![CDATA[", "-" * 300),
]
_ENTITIES = (
    '<!DOCTYPE a [<!ENTITY a0 "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, 12))
    + "]><topics><topic><number>1</number><title>&a11;</title></topic></topics>",
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><topics>&x;</topics>',
    '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><topics/>',
    '<!DOCTYPE a SYSTEM "file:///dev/zero"><topics/>',
    f'<!DOCTYPE a [<!ENTITY x "{"a" * 100_000}">]><topics>{"&x;" * 10_000}</topics>',
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp037", "shift_jis")
_DECLARED = ("UTF-16", "utf-7", "EBCDIC-CP-US", "idna", "rot13", "no-such", "", "UTF-8\0")
_EMPTY = [b"", b" ", b"\n\n", b"\0", b"\xef\xbb\xbf", b"null", b"[]", b"{}", b'""', b"0"]
_NESTS = ((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"<a>", b"</a>"), (b"<div>", b""), (b"-", b""))


def _inserted(content: bytes, piece: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + piece + content[at:]


def _replaced(content: bytes, piece: bytes, random: Random, what: re.Pattern[bytes] = _TOKEN) -> bytes:
    tokens = list(what.finditer(content))
    if not tokens:
        return content + piece
    start, end = random.choice(tokens).span()
    return content[:start] + piece + content[end:]


def _flipped(content: bytes, random: Random) -> bytes:
    spoilt = bytearray(content)
    for _ in range(random.randint(1, 20) if content else 0):
        spoilt[random.randrange(len(spoilt))] ^= 1 << random.randrange(8)
    return bytes(spoilt)


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _part(lost: bool) -> Mutation:
    """Returns a mutation that removes or duplicates a part of a file."""

    def mutation(content: bytes, random: Random) -> bytes:
        start, end = sorted(random.randrange(len(content) + 1) for _ in range(2))
        return content[:start] + content[end:] if lost else content[:end] + content[start:]

    return mutation


def _with_bom(content: bytes, random: Random) -> bytes:
    bom = b"\xef\xbb\xbf" * random.randint(1, 2)
    return bom + content if random.random() < 0.5 else _inserted(content, bom, random)


def _nested(content: bytes, random: Random) -> bytes:
    begin, end = random.choice(_NESTS)
    depth = random.choice([50, 150, 1000, 100_000])
    return _replaced(content, begin * depth + b"1" + end * depth, random)


def _with_huge_field(content: bytes, random: Random) -> bytes:
    field = random.choice([b"a", b"1", b"a ", b"\xc3\xa9", b"'", b"\\"]) * random.choice([2000, 10**5, 10**7])
    return _replaced(content, field, random)


def _lines(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


@cache
def zeros(byte: int, megabytes: int) -> bytes:
    """Returns so many equal bytes, gzipped: a thousandth of them."""
    return gzip.compress(bytes([byte]) * 10**6, mtime=0) * megabytes


def _zipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


# Mutations of gzip files are last, and applied last.
MUTATIONS: dict[str, Mutation] = {
    "flipped bits": _flipped,
    "cut off": _cut,
    "a part lost": _part(lost=True),
    "a part twice": _part(lost=False),
    "a line twice": lambda old, random: old + random.choice(_lines(old) or [b""]),
    "lines shuffled": lambda old, random: b"".join(random.sample(_lines(old), len(_lines(old)))),
    "lines joined": lambda old, random: re.sub(rb"\n", lambda _: b"\n" * (random.random() < 0.7), old),
    "bad bytes": lambda old, random: _inserted(old, random.choice(_BAD_BYTES), random),
    "a sign inserted": lambda old, random: _inserted(old, random.choice(_SIGNS), random),
    "nuls": lambda old, random: _inserted(old, bytes(random.choice([1, 3, 100_000])), random),
    "odd blanks": lambda old, random: old.replace(
        random.choice([b" ", b"\n"]), random.choice(_BLANKS).encode(), random.randint(-1, 3)
    ),
    "a bom": _with_bom,
    "another encoding": lambda old, random: old.decode("utf-8", "replace").encode(
        random.choice(_ENCODINGS), "replace"
    ),
    "an encoding declared": lambda old, random: (
        f'<?xml version="1.0" encoding="{random.choice(_DECLARED)}"?>\n'.encode() + old
    ),
    "an entity bomb": lambda old, random: random.choice(_ENTITIES).encode() + random.choice([b"", old]),
    "deep nesting": _nested,
    "a huge field": _with_huge_field,
    "many fields": lambda old, random: _inserted(
        old, random.choice([b" a", b",a", b'"b":1,', b"<b/>", b"\n"]) * 200_000, random
    ),
    "an odd number": lambda old, random: _replaced(old, random.choice(_NUMBERS).encode(), random, _NUMBER),
    "an odd text": lambda old, random: _replaced(
        old, random.choice(_TEXTS).encode("utf-8", "surrogateescape"), random
    ),
    "a token from elsewhere": lambda old, random: _replaced(
        old, random.choice(_TOKEN.findall(old) or [b""]), random
    ),
    "empty": lambda _, random: random.choice(_EMPTY),
    "noise": lambda _, random: random.randbytes(random.choice([1, 100, 100_000])),
    "gzipped": lambda old, random: _zipped(old) * random.randint(1, 2),
    "gzip cut off": lambda old, random: _cut(_zipped(old), random),
    "gzip with flipped bits": lambda old, random: _flipped(_zipped(old), random),
    "gzip and garbage": lambda old, random: _zipped(old) + random.choice([bytes(10), b"junk", b"\x1f\x8b"]),
    "a gzip bomb": lambda old, random: _zipped(old) + zeros(random.choice([0, 32, 10]), 100),
}
_NAMES = list(MUTATIONS)
_OFTEN = [
    "an odd number",
    "an odd text",
    "a token from elsewhere",
    "a sign inserted",
]  # pass a first check


def spoilt(content: bytes, random: Random) -> tuple[bytes, str]:
    """Returns a file with one to three mutations, and their names."""
    chosen = [random.choice(random.choice([_NAMES, _OFTEN])) for _ in range(random.choice([1, 1, 2, 3]))]
    for name in sorted(chosen, key=_NAMES.index):
        content = MUTATIONS[name](content, random)
    return content, ", ".join(sorted({*chosen}))


def misplace(path: Path, random: Random) -> str:
    """Replaces a file by something else; returns what it is."""
    path.unlink()
    target = random.choice(
        ["", path.name, "nothing", "/etc/passwd", "/dev/null", "../../../../../etc/hostname", "/", "."]
    )
    if not target:
        path.mkdir()
        return "a folder instead"
    path.symlink_to(target)
    return "a link elsewhere"


ODD_NAMES = [
    *("a b", "é ü", "a\nb", "a\r", "\x1b[31m", "\udcff\udcfe", "[x]*?", "-x", "%s", "\u2028", "'\"$("),
    "x" * 200,
]
