"""Bad inputs: ways to spoil a file, each a function of its bytes and of a random number generator."""

import gzip
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

Mutation = Callable[[bytes, Random], bytes]

DEEP = 100_000  # levels
_TOKEN = re.compile(rb"""[^\s"'<>{}\[\](),:=]+""")
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_BAD_BYTES = (b"\xff", b"\xc3", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82")
_SIGNS = [bytes([each]) for each in b"\"'<>{}[]()\\,;:=&#%/-+\t\n\r\0\x1b\x7f"]
_BLANKS = ("\r", "\v", "\f", "\x1c", "\x85", "\xa0", "\u2028", "\u3000", "\u200b", "\u202e")
_NUMBERS = (
    *(
        "NaN",
        "nan",
        "Infinity",
        "-inf",
        "1e999",
        "-1e999",
        "1e-999",
        "1.0",
        "1e3",
        "0x10",
        "1_0",
        "007",
        "-0",
    ),
    *("ınf", "٣", "１", "²", "1,5", "9" * 5000, "-9223372036854775809", "true", "null", "+1", ".5", "1e"),
)
_TEXTS = (
    *(
        "",
        " ",
        "null",
        "true",
        "0",
        "[]",
        "{}",
        "a b",
        "é",
        "e\u0301",
        "\U0001f600",
        "\x1b[31mred",
        "\x07",
        "a\tb",
    ),
    *(
        "a\nb",
        "a\r\nb",
        r"\ud800",
        r"\udc00\ud800",
        r"\u0000",
        r"\n",
        r"\x1b[2J",
        "%s",
        "{0}",
        "__class__",
        "../..",
    ),
    *(
        "/dev/zero",
        "/etc/passwd",
        ".",
        "..",
        "a/../../b",
        "file:///etc/passwd",
        "&amp;",
        "&#0;",
        "&#xD800;",
        "]]>",
    ),
    *("'", '"', "\\", "Q0", "1", "\ufeff", "\ufffe", "\udcff", "http://[", "<!--", "<![CDATA[", "-" * 300),
)
_ENTITIES = (
    '<!DOCTYPE a [<!ENTITY a0 "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, 12))
    + "]><topics><topic><number>1</number><title>&a11;</title></topic></topics>",
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><topics>&x;</topics>',
    '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><topics/>',
    '<!DOCTYPE a SYSTEM "file:///dev/zero"><topics/>',
    f'<!DOCTYPE a [<!ENTITY x "{"a" * 100_000}">]><topics>{"&x;" * 10_000}</topics>',
)
_NESTS = ((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"<a>", b"</a>"), (b"<div>", b""), (b"-", b""))


def flipped_bits(content: bytes, random: Random) -> bytes:
    spoilt = bytearray(content)
    for _ in range(random.randint(1, 20) if content else 0):
        spoilt[random.randrange(len(spoilt))] ^= 1 << random.randrange(8)
    return bytes(spoilt)


def cut_off(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def a_part_lost(content: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(content) + 1) for _ in range(2))
    return content[:start] + content[end:]


def a_part_twice(content: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(content) + 1) for _ in range(2))
    return content[:end] + content[start:]


def a_line_twice(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join([*lines, random.choice(lines or [b""])])


def lines_shuffled(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(random.sample(lines, len(lines)))


def lines_joined(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    return b"".join(line + (b"\n" if random.random() < 0.7 else b"") for line in lines)


def bad_bytes(content: bytes, random: Random) -> bytes:
    return _inserted(content, random.choice(_BAD_BYTES), random)


def a_sign_inserted(content: bytes, random: Random) -> bytes:
    return _inserted(content, random.choice(_SIGNS), random)


def nuls(content: bytes, random: Random) -> bytes:
    return _inserted(content, bytes(random.choice([1, 3, 100_000])), random)


def odd_blanks(content: bytes, random: Random) -> bytes:
    return content.replace(
        random.choice([b" ", b"\n"]), random.choice(_BLANKS).encode(), random.randint(-1, 3)
    )


def a_bom(content: bytes, random: Random) -> bytes:
    bom = b"\xef\xbb\xbf" * random.randint(1, 2)
    return bom + content if random.random() < 0.5 else _inserted(content, bom, random)


def another_encoding(content: bytes, random: Random) -> bytes:
    encodings = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp037", "shift_jis")
    return content.decode("utf-8", "replace").encode(random.choice(encodings), "replace")


def an_encoding_declared(content: bytes, random: Random) -> bytes:
    named = random.choice(["UTF-16", "utf-7", "EBCDIC-CP-US", "idna", "rot13", "no-such", "", "UTF-8\0"])
    return f'<?xml version="1.0" encoding="{named}"?>\n'.encode() + content


def an_entity_bomb(content: bytes, random: Random) -> bytes:
    bomb = random.choice(_ENTITIES).encode()
    return bomb if random.random() < 0.5 else bomb + content


def deep_nesting(content: bytes, random: Random) -> bytes:
    begin, end = random.choice(_NESTS)
    depth = random.choice([50, 150, 1000, DEEP])
    return _replaced(content, begin * depth + b"1" + end * depth, random)


def a_huge_field(content: bytes, random: Random) -> bytes:
    field = random.choice([b"a", b"1", b"a ", b"\xc3\xa9", b"'", b"\\"]) * random.choice([2000, 10**5, 10**7])
    return _replaced(content, field, random)


def many_fields(content: bytes, random: Random) -> bytes:
    return _inserted(content, random.choice([b" a", b",a", b'"b":1,', b"<b/>", b"\n"]) * 200_000, random)


def an_odd_number(content: bytes, random: Random) -> bytes:
    return _replaced(content, random.choice(_NUMBERS).encode(), random, _NUMBER)


def an_odd_text(content: bytes, random: Random) -> bytes:
    return _replaced(content, random.choice(_TEXTS).encode("utf-8", "surrogateescape"), random)


def a_token_from_elsewhere(content: bytes, random: Random) -> bytes:
    """Repeated ids, and values of another field."""
    return _replaced(content, random.choice(_TOKEN.findall(content) or [b""]), random)


def empty(content: bytes, random: Random) -> bytes:
    return random.choice([b"", b" ", b"\n\n", b"\0", b"\xef\xbb\xbf", b"null", b"[]", b"{}", b'""', b"0"])


def noise(content: bytes, random: Random) -> bytes:
    return random.randbytes(random.choice([1, 100, 100_000]))


def gzipped(content: bytes, random: Random) -> bytes:
    return gzip.compress(content, mtime=0) * random.randint(1, 2)


def gzip_cut_off(content: bytes, random: Random) -> bytes:
    return cut_off(gzip.compress(content, mtime=0), random)


def gzip_with_flipped_bits(content: bytes, random: Random) -> bytes:
    return flipped_bits(gzip.compress(content, mtime=0), random)


def gzip_and_garbage(content: bytes, random: Random) -> bytes:
    return gzip.compress(content, mtime=0) + random.choice([bytes(10), b"garbage", b"\x1f\x8b"])


def a_gzip_bomb(content: bytes, random: Random) -> bytes:
    return gzip.compress(content, mtime=0) + zeros(random.choice([0, 32, 10]), 100)


@cache
def zeros(byte: int, megabytes: int) -> bytes:
    """So many equal bytes, gzipped: a thousandth of them."""
    return gzip.compress(bytes([byte]) * 10**6, mtime=0) * megabytes


MUTATIONS: tuple[Mutation, ...] = (
    *(flipped_bits, cut_off, a_part_lost, a_part_twice, a_line_twice, lines_shuffled, lines_joined),
    *(bad_bytes, a_sign_inserted, nuls, odd_blanks, a_bom, another_encoding, an_encoding_declared),
    *(an_entity_bomb, deep_nesting, a_huge_field, many_fields, an_odd_number, an_odd_text),
    *(a_token_from_elsewhere, empty, noise),
    *(gzipped, gzip_cut_off, gzip_with_flipped_bits, gzip_and_garbage, a_gzip_bomb),
)
_OFTEN = (
    an_odd_number,
    an_odd_text,
    a_token_from_elsewhere,
    a_sign_inserted,
)  # most get past the first check


def spoilt(content: bytes, random: Random) -> tuple[bytes, str]:
    """A file with one to three things wrong with it, and the names of these."""
    chosen = [random.choice(random.choice([MUTATIONS, _OFTEN])) for _ in range(random.choice([1, 1, 2, 3]))]
    for mutation in sorted(chosen, key=MUTATIONS.index):  # gzip comes last
        content = mutation(content, random)
    return content, ", ".join(sorted({each.__name__ for each in chosen}))


def _inserted(content: bytes, piece: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + piece + content[at:]


def _replaced(content: bytes, piece: bytes, random: Random, what: re.Pattern[bytes] = _TOKEN) -> bytes:
    found = list(what.finditer(content))
    if not found:
        return content + piece
    start, end = random.choice(found).span()
    return content[:start] + piece + content[end:]


def a_folder_instead(path: Path, random: Random) -> None:
    path.unlink()
    path.mkdir()


def a_loop_of_links(path: Path, random: Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


def a_link_to_nothing(path: Path, random: Random) -> None:
    path.unlink()
    path.symlink_to("nothing")


def a_link_out_of_the_folder(path: Path, random: Random) -> None:
    path.unlink()
    path.symlink_to(random.choice(["/etc/passwd", "/dev/null", "../../../../../etc/hostname", "/", "."]))


MISPLACED: tuple[Callable[[Path, Random], None], ...] = (
    a_folder_instead,
    a_loop_of_links,
    a_link_to_nothing,
    a_link_out_of_the_folder,
)
ODD_NAMES = (
    "a b",
    "é ü",
    "a\nb",
    "a\r",
    "\x1b[31m",
    "\udcff\udcfe",
    "[x]*?",
    "-x",
    "%s",
    "\u2028",
    "x" * 200,
    "'\"$(",
)
