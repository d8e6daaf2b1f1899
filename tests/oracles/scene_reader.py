"""Read a scene document as `web/src/format.ts` describes it; slow and plain."""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from nonsmooth.result import Result


class Document:
    """The header of a document, and its columns as lists."""

    def __init__(self, packed: bytes) -> None:
        data = zlib.decompress(packed, wbits=31)  # the format of gzip
        (size,) = struct.unpack_from("<I", data)
        self.header: dict[str, Any] = json.loads(data[4 : 4 + size].decode("utf-8"))
        self.arrays = data[4 + size :]
        self.n: int = self.header["sampling"]["n"]
        self.infos = {column["name"]: column for column in self.header["columns"]}

    def column(self, name: str) -> list[float]:
        """Return the numbers of a column."""
        info = self.infos[name]
        if info["type"] == "constant":
            value = info["value"]
            return [float("nan") if value is None else value] * self.n
        part = self.arrays[info["offset"] : info["offset"] + info["length"]]
        width = {"f32": 4, "f64": 8, "i8": 1}[info["type"]]
        assert len(part) == self.n * width, name
        # Number i has its bytes at i, n + i, 2 n + i, ...
        words = [part[i :: self.n] for i in range(self.n)]
        if info["type"] == "i8":
            return [struct.unpack("<b", word)[0] for word in words]
        if info["type"] == "f64":
            return [struct.unpack("<d", word)[0] for word in words]
        numbers: list[float] = []
        bits = 0
        for word in words:
            bits = (bits + struct.unpack("<I", word)[0]) & 0xFFFFFFFF
            numbers.append(struct.unpack("<f", struct.pack("<I", bits))[0])
        return [info.get("origin", 0.0) + number for number in numbers]


def unblocked(document: Document, block: dict[str, Any]) -> Any:
    """Return the numbers of a block, two bytes each, as a flat array."""
    part = document.arrays[block["offset"] : block["offset"] + block["length"]]
    n = len(part) // 2
    code = {"u16": "<H", "i16": "<h"}[block["type"]]
    whole = [struct.unpack(code, part[i::n])[0] for i in range(n)]
    return np.array(whole) * block.get("step", 1)


def sides(document: Document) -> tuple[Any, Any]:
    """Return times, and which of them end an arc."""
    t, arcs = np.array(document.column("t")), document.header["arcs"]
    is_last = np.zeros(len(t), dtype=bool)
    is_last[np.array(arcs[1:]) - 1] = True
    return t, is_last


def sampled(result: Result, t: Any, is_last: Any, names: Any) -> dict[str, Any]:
    """Return columns at times, before the events that end arcs."""
    after, before = result.sample(t, names), result.sample(t, names, "before")
    return {name: np.where(is_last, before[name], after[name]) for name in names}
