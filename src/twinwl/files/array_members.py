"""The zip under a model file: text and arrays in uncompressed members, read without trusting a word of it.

Members are stored, not compressed, so a file can never unpack into more than its own size; an array's header
is held against the bytes that follow it before anything is allocated.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import IO, TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["ModelFileError", "read_members", "write_members"]

MANIFEST = "manifest.json"
_ARRAY_ENDING = ".npy"
_PLAIN_KINDS = "biufSU"  # no objects, so nothing to unpickle; no dates, no records
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip's earliest date: the same model gives the same bytes


class ModelFileError(TwinWLError):
    """A model file cannot be written or is not to be trusted."""


def write_members(stream: IO[bytes], manifest: str, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write the manifest and then the arrays, in the order given."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(MANIFEST), manifest.encode("ascii"))
        for name, array in arrays.items():
            with archive.open(_member(name + _ARRAY_ENDING), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_members(path: Path) -> tuple[str, dict[str, NDArray[np.generic]]]:
    """Return the manifest's text and the arrays by name.

    Raises
    ------
    ModelFileError
        If a member is of a kind that `write_members` does not write.
    zipfile.BadZipFile
        If the file is no zip, or its bytes do not match their checksums.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        if len(set(names)) != len(names):
            raise ModelFileError("two members of the file have one name")
        if MANIFEST not in names:
            raise ModelFileError(f"there is no {MANIFEST} in it, so it is no twinwl model")
        for member in members:
            _check_member(member)
        text = archive.read(MANIFEST).decode("ascii")
        arrays = {
            member.filename.removesuffix(_ARRAY_ENDING): _array(archive.read(member), member.filename)
            for member in members
            if member.filename != MANIFEST
        }
    return text, arrays


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.external_attr = 0o644 << 16
    return info


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    plain = all(part not in {"", ".", ".."} for part in name.split("/")) and not set(name) & set("\\:\0")
    if name != MANIFEST and not (plain and name.endswith(_ARRAY_ENDING)):
        raise ModelFileError(f"the member {name[:200]!r} has no business in a model file")
    stored = member.compress_type == zipfile.ZIP_STORED and member.file_size == member.compress_size
    if not stored or member.flag_bits & 1:
        raise ModelFileError(f"the member {name[:200]!r} is compressed or encrypted; twinwl writes neither")


def _array(content: bytes, name: str) -> NDArray[np.generic]:
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran_order, dtype = read_header(stream)
    except (KeyError, TypeError, ValueError, EOFError, RecursionError) as error:
        raise ModelFileError(f"{name} is no array ({error})") from error
    if dtype.kind not in _PLAIN_KINDS or dtype.hasobject:
        raise ModelFileError(f"{name} is an array of {dtype}, which a model file does not hold")
    begin = stream.tell()
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(content) - begin:
        raise ModelFileError(
            f"{name} claims the shape {shape} of {dtype}, but holds {len(content) - begin} bytes"
        )
    flat = (
        np.frombuffer(content, dtype, offset=begin) if dtype.itemsize else np.empty(math.prod(shape), dtype)
    )
    array: NDArray[np.generic] = flat.reshape(shape, order="F" if fortran_order else "C")
    return array
