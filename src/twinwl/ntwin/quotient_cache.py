"""Quotients in the user's cache, beside the parsed data sets: built once for a data set and its settings."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from twinwl.datasets.dataset import content_digest
from twinwl.files.cache import read_arrays, write_arrays
from twinwl.ntwin.pools import Pool
from twinwl.ntwin.quotient import Quotient, build_quotient
from twinwl.ntwin.settings import hops_of_layers
from twinwl.refinement.alphabet import Round

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from twinwl.graphs.batch import GraphBatch
    from twinwl.ntwin.settings import Hops, RootMark

__all__ = ["cached_quotient"]

_FORMAT = 1  # raise it whenever the same graphs would be coloured or kept in another way


def cached_quotient(
    batch: GraphBatch,
    layers: int,
    hops: Hops = "growing",
    *,
    root_mark: RootMark = "none",
    edge_labels: bool = False,
    max_memory: int | None = None,
) -> Quotient:
    """Return `build_quotient` of the same arguments, from the cache where it has been built before.

    The key is a digest of the graphs' content and the settings; an entry that is missing, damaged or made by
    something else is built anew.

    Examples
    --------
    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> cached_quotient(worked_example(), layers=2).n_colours
    [2, 8, 8]
    """
    plain = batch.without_features()
    radii = hops_of_layers(hops, layers)
    content = content_digest(plain, np.empty(0, np.int64))
    settings = f"quotient {_FORMAT} {radii} {root_mark} {edge_labels} {content}"
    key = hashlib.sha256(settings.encode()).hexdigest()
    arrays = read_arrays(key)
    if arrays is not None:
        found = _from_arrays(arrays, plain, radii, root_mark, edge_labels=edge_labels)
        if found is not None:
            return found
    quotient = build_quotient(
        plain, layers, hops, root_mark=root_mark, edge_labels=edge_labels, max_memory=max_memory
    )
    write_arrays(key, _to_arrays(quotient))
    return quotient


def _to_arrays(quotient: Quotient) -> dict[str, NDArray[np.generic]]:
    """Labels are left out: they are the batch's own."""
    arrays: dict[str, NDArray[np.generic]] = {"n_pairs": np.array(quotient.n_pairs, np.int64)}
    for layer, (part, pool) in enumerate(zip(quotient.rounds, quotient.pools, strict=True), start=1):
        arrays[f"sig_ptr_{layer}"] = part.sig_ptr
        arrays[f"sig_items_{layer}"] = part.sig_items
        arrays[f"pool_ptr_{layer}"] = pool.indptr
        arrays[f"colours_{layer}"] = pool.colours
        arrays[f"counts_{layer}"] = pool.counts
    return arrays


def _from_arrays(
    arrays: Mapping[str, NDArray[np.generic]],
    batch: GraphBatch,
    radii: tuple[int, ...],
    root_mark: RootMark,
    *,
    edge_labels: bool,
) -> Quotient | None:
    """Rebuild a quotient, or return None where the arrays do not fit together: kernels do not look."""
    empty = Quotient(
        labels=batch.node_vocabulary,
        edge_labels=batch.edge_vocabulary if edge_labels and batch.edge_labels is not None else None,
        root_mark=root_mark,
        hops=radii,
        directed=batch.directed,
        rounds=(),
        pools=(),
        n_pairs=(),
    )
    rounds: list[Round] = []
    pools: list[Pool] = []
    stride = max(1, empty.n_colours[0])
    try:
        for layer in range(1, len(radii) + 1):
            part = Round(
                arrays[f"sig_ptr_{layer}"].astype(np.int64, copy=False),
                arrays[f"sig_items_{layer}"],  # type: ignore[arg-type]
                stride,
                empty.n_codes,
            )
            pool = Pool(
                arrays[f"pool_ptr_{layer}"].astype(np.int64, copy=False),
                arrays[f"colours_{layer}"].astype(np.int32, copy=False),
                arrays[f"counts_{layer}"].astype(np.int32, copy=False),
            )
            if not _sound(part, pool, len(batch)):
                return None
            rounds.append(part)
            pools.append(pool)
            stride = max(1, part.n_colours)
        n_pairs = tuple(int(pairs) for pairs in arrays["n_pairs"])
    except (KeyError, ValueError, TypeError):
        return None
    return Quotient(
        **{name: getattr(empty, name) for name in ("labels", "edge_labels", "root_mark", "hops", "directed")},
        rounds=tuple(rounds),
        pools=tuple(pools),
        n_pairs=n_pairs,
    )


def _sound(part: Round, pool: Pool, n_graphs: int) -> bool:
    return bool(
        _pointer(part.sig_ptr, len(part.sig_items))
        and _pointer(pool.indptr, len(pool.colours))
        and len(pool.indptr) == n_graphs + 1
        and len(pool.counts) == len(pool.colours)
        and _below(part.sig_items, part.stride * part.n_codes)
        and (np.diff(part.sig_ptr) > 0).all()
        and _below(part.sig_items[part.sig_ptr[:-1]], part.stride)
        and _below(pool.colours, part.n_colours)
    )


def _pointer(pointer: NDArray[np.int64], length: int) -> bool:
    return bool(len(pointer) and pointer[0] == 0 and pointer[-1] == length and (np.diff(pointer) >= 0).all())


def _below(values: NDArray[np.signedinteger], limit: int) -> bool:
    return not len(values) or bool(values.min() >= 0 and values.max() < limit)
