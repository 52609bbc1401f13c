"""The zip under a model file: text and arrays in uncompressed members, checked before they are used.

Members are stored, not compressed, and together they are no larger than the file, so reading a file never
takes more memory than a small multiple of its size. An array's header is compared with the bytes that follow
it before anything is allocated.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from typing import IO, TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from twinwl.arrays import Values

MANIFEST = "manifest.json"
_ARRAY_ENDING = ".npy"
# No objects, so there is nothing to unpickle; no dates, no records, no other byte order than '<'.
_PLAIN_DTYPE = re.compile(r"[|]b1|[|][iu]1|<[iu][248]|<f[248]|[|]S[1-9]\d*|<U[1-9]\d*")
_LARGEST_MANIFEST = 1 << 26  # bytes; parsed JSON takes up to 25 times the memory of its text
_LAST_CODE_POINT = 0x10FFFF
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip's earliest date: the same model gives the same bytes


class ModelFileError(TwinWLError):
    """A model file cannot be written, or is not valid."""


def plain_array(array: Values, name: str) -> Values:
    """Return an array as a model file holds it, in the byte order of all files.

    >>> plain_array(np.array([1, 2], ">i4"), "rows").dtype.str
    '<i4'

    Raises
    ------
    ModelFileError
        If it holds objects, dates or records, or a number that is not finite.
    """
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if not _PLAIN_DTYPE.fullmatch(array.dtype.str):
        raise ModelFileError(
            f"{name} is an array of {array.dtype}, which a model file cannot hold; "
            "use numbers, booleans or strings"
        )
    _check_values(array, name)
    return array


def write_members(stream: IO[bytes], manifest: str, arrays: Mapping[str, Values]) -> None:
    """Write the manifest and then the arrays, in the order given; all are `plain_array`."""
    if len(manifest) > _LARGEST_MANIFEST:
        raise ModelFileError(
            f"the labels and parameters of the model take {len(manifest):,} bytes as text; "
            f"a model file holds up to {_LARGEST_MANIFEST:,}"
        )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(MANIFEST), manifest.encode("ascii"))
        for name, array in arrays.items():
            with archive.open(_member(name + _ARRAY_ENDING), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_members(path: Path) -> tuple[str, dict[str, Values]]:
    """Return the manifest's text and the arrays by name, in the byte order of the file.

    Raises
    ------
    ModelFileError
        If there is no such file, or a member is of a kind that `write_members` does not write.
    zipfile.BadZipFile
        If the file is not a zip, or its bytes do not match their checksums.
    """
    if path.is_dir():
        raise ModelFileError("this is a folder; name the model file in it")
    if not path.is_file():
        raise ModelFileError("there is no file of this name")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        if len(set(names)) != len(names):
            raise ModelFileError("two members of the file have one name")
        if MANIFEST not in names:
            raise ModelFileError(f"there is no {MANIFEST} in it, so it is not a twinwl model")
        for member in members:
            _check_member(member)
        # Entries of a directory may overlap: then they hold more than there is.
        if sum(member.file_size for member in members) > path.stat().st_size:
            raise ModelFileError("its members claim more bytes than the file has")
        if archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
            raise ModelFileError(f"its {MANIFEST} has more than {_LARGEST_MANIFEST:,} bytes")
        text = archive.read(MANIFEST).decode("ascii")
        arrays = {
            member.filename.removesuffix(_ARRAY_ENDING): read_array(archive.read(member), member.filename)
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
    decent = all(part not in {"", ".", ".."} for part in name.split("/")) and not set(name) & set("\\:\0")
    if name != MANIFEST and not (decent and name.endswith(_ARRAY_ENDING)):
        raise ModelFileError(f"the member {name[:200]!r} is unexpected in a model file")
    stored = member.compress_type == zipfile.ZIP_STORED and member.file_size == member.compress_size
    if not stored or member.flag_bits & 1:
        raise ModelFileError(f"the member {name[:200]!r} is compressed or encrypted; twinwl writes neither")


def read_array(content: bytes, name: str) -> Values:
    """Return the array of an ``.npy`` file of numbers, booleans or strings; nothing is ever unpickled.

    Parameters
    ----------
    content
        The bytes of the file.
    name
        What it is called, for messages.

    Raises
    ------
    ModelFileError
        If it is not such a file, holds objects, or has fewer or more bytes than its header says.
    """
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran_order, dtype = read_header(stream)
    except (KeyError, TypeError, ValueError, EOFError, RecursionError) as error:
        raise ModelFileError(f"{name} is not an array ({error})") from error
    if not _PLAIN_DTYPE.fullmatch(dtype.str):
        raise ModelFileError(f"{name} is an array of {dtype}; only numbers, booleans and strings are read")
    n_bytes = len(content) - stream.tell()
    sound = all(type(length) is int and length >= 0 for length in shape)
    if not sound or math.prod(shape) * dtype.itemsize != n_bytes:
        raise ModelFileError(f"{name} claims the shape {shape} of {dtype}, but holds {n_bytes} bytes")
    flat = np.frombuffer(content, dtype, offset=stream.tell())
    array: Values = flat.reshape(shape, order="F" if fortran_order else "C")
    _check_values(array, name)
    return array


def _check_values(array: Values, name: str) -> None:
    """Refuse numbers that are not finite and bytes that stand for no value of their type."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelFileError(f"{name} holds a number that is not finite")
    if array.size and array.dtype.kind == "b" and np.ascontiguousarray(array).view(np.uint8).max() > 1:
        raise ModelFileError(f"{name} holds bytes that are neither true nor false")
    if array.size and array.dtype.kind == "U":
        points = np.ascontiguousarray(array).reshape(-1).view(np.dtype("<u4"))
        if points.max() > _LAST_CODE_POINT:
            raise ModelFileError(f"{name} holds a character that does not exist")
