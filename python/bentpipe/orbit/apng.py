"""A moving picture as APNG, a frame after the other, in 256 colours.

Browsers and slides show it by themselves. The chunks are those of PNG, third edition (W3C, 2025).
"""

import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.uint8]
"""Rows of red, green and blue."""

_COLOURS = 256
_LEVEL = 6


def write(path: Path, frames: Iterable[Pixels], number: int, shown_ms: int, about: str = "") -> None:
    """Write `number` frames of one size, each shown for so long, over and over again.

    The palette is the first frame's.
    """
    with path.open("wb") as file:
        sequence = 0
        table: NDArray[np.uint8] | None = None
        for frame in frames:
            height, width, _ = frame.shape
            if table is None:
                palette, table = _palette(frame)
                file.write(b"\x89PNG\r\n\x1a\n")
                _chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
                _chunk(file, b"tEXt", b"Software\0bentpipe")
                if about:
                    _chunk(file, b"iTXt", b"Description\0\0\0\0\0" + about.encode())
                _chunk(file, b"acTL", struct.pack(">II", number, 0))
                _chunk(file, b"PLTE", palette.tobytes())
            rows = np.zeros((height, width + 1), np.uint8)
            rows[:, 1:] = table[_codes(frame)]
            data = zlib.compress(rows.tobytes(), _LEVEL)
            control = struct.pack(">IIIIIHHBB", sequence, width, height, 0, 0, shown_ms, 1000, 0, 0)
            _chunk(file, b"fcTL", control)
            # The first frame is the picture for those who do not know of others.
            if sequence == 0:
                _chunk(file, b"IDAT", data)
                sequence += 1
            else:
                _chunk(file, b"fdAT", struct.pack(">I", sequence + 1) + data)
                sequence += 2
        _chunk(file, b"IEND", b"")


def _chunk(file: IO[bytes], kind: bytes, data: bytes) -> None:
    file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def _codes(frame: Pixels) -> NDArray[np.intp]:
    """Give each pixel's colour in five bits for each of red, green and blue."""
    red, green, blue = (frame[..., channel].astype(np.intp) >> 3 for channel in range(3))
    return red << 10 | green << 5 | blue


def _palette(frame: Pixels) -> tuple[Pixels, NDArray[np.uint8]]:
    """Give the colours that a frame has most of, and for each code the one that is nearest."""
    codes = _codes(frame).ravel()
    counts = np.bincount(codes, minlength=1 << 15)
    common = np.argsort(-counts, kind="stable")[: min(_COLOURS, np.count_nonzero(counts))]
    flat = frame.reshape(-1, 3).astype(float)
    sums = np.column_stack([np.bincount(codes, flat[:, channel], 1 << 15) for channel in range(3)])
    colours = sums[common] / counts[common][:, None]
    every = np.arange(1 << 15)
    middles = np.column_stack([(every >> shift & 31) * 8.0 + 4.0 for shift in (10, 5, 0)])
    # What a code stands for in the frame itself, where it is there.
    middles[common] = colours
    away = ((middles[:, None, :] - colours[None, :, :]) ** 2).sum(axis=2)
    return np.rint(colours).astype(np.uint8), np.argmin(away, axis=1).astype(np.uint8)
