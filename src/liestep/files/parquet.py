"""Tables of numbers and words as Parquet files (format version 2.6 of Apache Parquet), written group by group.

A writer of its own, because a table of this program needs little of the format: columns without missing values (NaN
stands for what is not there), float64, int64 and words, uncompressed. The package pyarrow has all of it, takes 170 MB,
and where it is installed every import of pandas loads it and changes the type of all texts. What is written here can be
read with it, with DuckDB, or with any other reader.
"""
import struct
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, BinaryIO

import numpy as np

MAGIC = b"PAR1"
INT64, DOUBLE, BYTE_ARRAY = 2, 5, 6  # physical types
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8  # encodings
DATA_PAGE, DICTIONARY_PAGE = 0, 2
UTF8 = 0  # converted type
TRUE, I32, I64, BINARY, LIST, STRUCT = 1, 5, 6, 8, 9, 12  # types of Thrift's compact protocol

Column = np.ndarray | Sequence[str]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag(number: int) -> bytes:
    return _varint(2*number if number >= 0 else -2*number - 1)


def _value(kind: int, value: Any) -> bytes:
    if kind in (I32, I64):
        return _zigzag(value)
    if kind == BINARY:
        text = value.encode() if isinstance(value, str) else value
        return _varint(len(text)) + text
    if kind == LIST:
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + _varint(len(items))
        return head + b"".join(_value(inner, item) for item in items)
    return value  # a struct is bytes already


def _struct(*fields: tuple[int, int, Any]) -> bytes:
    """A Thrift struct in compact form from (number, type, value), numbers rising."""
    out, before = b"", 0
    for number, kind, value in fields:
        out += bytes([(number - before) << 4 | kind]) + _value(kind, value)
        before = number
    return out + b"\0"


def _kind(values: Column) -> int:
    if not isinstance(values, np.ndarray):
        return BYTE_ARRAY
    return INT64 if values.dtype.kind in "iu" else DOUBLE


def _page(page: int, body: bytes, *header: tuple[int, int, Any]) -> bytes:
    return _struct((1, I32, page), (2, I32, len(body)), (3, I32, len(body)), *header) + body


def _words(values: Sequence[str]) -> tuple[bytes, bytes]:
    """Dictionary page and data page of words: numbers of the words in runs of equal ones."""
    places = {word: number for number, word in enumerate(dict.fromkeys(values))}
    body = b"".join(struct.pack("<I", len(word.encode())) + word.encode() for word in places)
    width = max(1, (len(places) - 1).bit_length())
    runs = b"".join(_varint(len(list(run)) << 1) + places[word].to_bytes((width + 7)//8, "little")
                    for word, run in groupby(values))
    first = _page(DICTIONARY_PAGE, body, (7, STRUCT, _struct((1, I32, len(places)), (2, I32, PLAIN))))
    return first, _data_page(bytes([width]) + runs, len(values), RLE_DICTIONARY)


def _data_page(body: bytes, count: int, encoding: int) -> bytes:
    return _page(DATA_PAGE, body, (5, STRUCT, _struct((1, I32, count), (2, I32, encoding), (3, I32, RLE),
                                                      (4, I32, RLE))))


class ParquetWriter:
    """Writes the columns of one group of rows after the other to an open file; `close` writes the end, without which
    the file is none."""

    def __init__(self, file: BinaryIO):
        self.file, self.rows = file, 0
        self._schema: dict[str, int] = {}
        self._groups: list[bytes] = []
        self._at = file.write(MAGIC)

    def write(self, columns: Mapping[str, Column]) -> None:
        """One group of rows: name -> values, all of one length. Raises ValueError for other columns than those of the
        first group."""
        kinds = {name: _kind(values) for name, values in columns.items()}
        self._schema = self._schema or kinds
        if list(kinds.items()) != list(self._schema.items()) or len({len(values) for values in columns.values()}) != 1:
            raise ValueError("all groups of rows need the same columns, all columns the same length")
        count, chunks, size = len(next(iter(columns.values()))), [], 0
        for name, values in columns.items():
            chunk, length = self._chunk(name, values)
            chunks.append(chunk)
            size += length
        self._groups.append(_struct((1, LIST, (STRUCT, chunks)), (2, I64, size), (3, I64, count)))
        self.rows += count

    def _chunk(self, name: str, values: Column) -> tuple[bytes, int]:
        """Write one column of a group; what the end of the file says about it, and its bytes."""
        start, kind = self._at, _kind(values)
        if isinstance(values, np.ndarray):
            first, encodings = b"", [PLAIN, RLE]
            data = _data_page(values.astype("<i8" if kind == INT64 else "<f8").tobytes(), len(values), PLAIN)
        else:
            (first, data), encodings = _words(values), [PLAIN, RLE, RLE_DICTIONARY]
        size = self.file.write(first + data)
        self._at += size
        meta = _struct((1, I32, kind), (2, LIST, (I32, encodings)), (3, LIST, (BINARY, [name])), (4, I32, 0),
                       (5, I64, len(values)), (6, I64, size), (7, I64, size), (9, I64, start + len(first)),
                       *([(11, I64, start)] if first else []))
        return _struct((2, I64, start), (3, STRUCT, meta)), size

    def close(self) -> None:
        """Write the end of the file."""
        columns = [_struct((1, I32, kind), (3, I32, 0), (4, BINARY, name),
                           *([(6, I32, UTF8)] if kind == BYTE_ARRAY else [])) for name, kind in self._schema.items()]
        root = _struct((4, BINARY, "schema"), (5, I32, len(columns)))
        footer = _struct((1, I32, 2), (2, LIST, (STRUCT, [root, *columns])), (3, I64, self.rows),
                         (4, LIST, (STRUCT, self._groups)), (6, BINARY, "liestep"))
        self.file.write(footer + struct.pack("<I", len(footer)) + MAGIC)
