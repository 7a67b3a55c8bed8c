"""Quotes of the papers: whether words stand in a text that is not ours to ship, from hashes of its runs of words.

`python tests/quotes.py TEXT...` writes study/quotes/<name of the text>.bin: of every run of 3, 4 and 5 words of the
text the first 24 bits of the sha256, sorted, their differences packed. Words are compared without case, punctuation,
hyphens, ligatures and commands of LaTeX. A quote may leave words out with "..."; each of its parts has at least three
words.
"""
import lzma
import re
import sys
import unicodedata
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent/"study"/"quotes"
LENGTHS = (3, 4, 5)  # in words
# HTML of LaTeX gives numbers and letters three times: 222, nnn, 1014superscript101410^{-14} and
# 3.5×1043.5superscript1043.5\times 10^{-4}
POWER = re.compile(r"(\d+\.\d+)×\S*?superscript\S*?\1(?=\\times)|10(\d+)superscript10\2(?=10\^)")
THRICE = re.compile(r"(?<![\w.])([^\W_][\w.]{0,7})\1\1(?!\w)")
HYPHEN = re.compile(r"(?<=[^\W\d_])-\s*(?=[^\W\d_])")
DASHES = dict.fromkeys(map(ord, "\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{MINUS SIGN}\N{SOFT HYPHEN}"), "-")


def words(text: str) -> list[str]:
    """The words and numbers of a text, as they are compared."""
    plain = THRICE.sub(r"\1", unicodedata.normalize("NFKC", POWER.sub(r"\1", text)).translate(DASHES))
    joined = HYPHEN.sub("", re.sub(r"\\[A-Za-z]+", " ", plain))
    return re.findall(r"[^\W\d_]+|-?\d+(?:\.\d+)*", joined.casefold())


def runs(found: list[str], length: int) -> Iterator[int]:
    """Hash of each run of so many words."""
    for start in range(len(found) - length + 1):
        yield int.from_bytes(sha256(" ".join(found[start:start + length]).encode()).digest()[:3], "big")


def pack(text: str) -> bytes:
    found = words(text)
    hashes = np.unique([0, *(one for length in LENGTHS for one in runs(found, length))])
    return lzma.compress(np.diff(hashes).astype("<u4").view(np.uint8).reshape(-1, 4).T.tobytes())


def unpack(packed: bytes) -> set[int]:
    steps = np.frombuffer(lzma.decompress(packed), np.uint8).reshape(4, -1).T.copy().view("<u4")
    return set(np.cumsum(steps).tolist())


def not_found(quote: str, known: set[int]) -> str:
    """The first words of a quote that do not stand in the text with these hashes; empty where all do."""
    for part in re.split(r"\.\.\.|\N{HORIZONTAL ELLIPSIS}", quote):
        found = words(part)
        length = min(len(found), LENGTHS[-1])
        if length < LENGTHS[0]:
            return part.strip() or quote
        for start, one in enumerate(runs(found, length)):
            if one not in known:
                return " ".join(found[start:start + length])
    return ""


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for place in map(Path, sys.argv[1:]):
        (FOLDER/f"{place.stem}.bin").write_bytes(pack(place.read_text(encoding="utf-8")))
