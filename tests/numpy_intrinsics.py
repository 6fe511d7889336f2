"""Each transformational intrinsic with NumPy: what the oracle holds the element rules against."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

LEAST, GREATEST = -(2**31), 2**31 - 1


def objects(data: Any) -> np.ndarray:
    """An object array, however the data comes."""
    array = np.asarray(data)
    return array if array.dtype == object else array.astype(object)


def _number(x: Any) -> int:
    return int(np.asarray(x)[()])


def _axis(dim: Any, default: int | None = None) -> int | None:
    return default if dim is None else _number(dim) - 1


def np_spread(source: np.ndarray, dim: Any, ncopies: Any) -> np.ndarray:
    where = _number(dim) - 1
    return np.repeat(np.expand_dims(source, where), max(_number(ncopies), 0), where)


def np_reshape(source: np.ndarray, shape: np.ndarray, pad: Any = None, order: Any = None) -> np.ndarray:
    extents = [int(n) for n in shape]
    total = math.prod(extents)
    flat = source.flatten(order="F")
    if flat.size < total:
        assert pad is not None and pad.size
        more = np.resize(pad.flatten(order="F"), total - flat.size)
        flat = np.concatenate([flat, more])
    axes = list(range(len(extents))) if order is None else [int(o) - 1 for o in order]
    filled = flat[:total].reshape([extents[o] for o in axes], order="F")
    return np.transpose(filled, np.argsort(axes))


def np_cshift(array: np.ndarray, shift: Any, dim: Any = None) -> np.ndarray:
    where = _axis(dim, 0)
    assert where is not None
    if np.ndim(shift):
        return _rows(np_cshift, array, where, shift)
    return np.roll(array, -_number(shift), where)


def _rows(shifted: Any, array: np.ndarray, where: int, *given: Any) -> np.ndarray:
    """A shift of its own for each rank-1 section along a dimension."""
    moved = np.moveaxis(array, where, -1)
    result = np.empty(moved.shape, dtype=object)
    for at in np.ndindex(*moved.shape[:-1]):
        result[at] = shifted(moved[at], *(x[at] if np.ndim(x) else x for x in given))
    return np.moveaxis(result, -1, where)


def np_eoshift(array: np.ndarray, shift: Any, boundary: Any = None, dim: Any = None) -> np.ndarray:
    if np.ndim(shift):
        axis = _axis(dim, 0)
        assert axis is not None
        return _rows(np_eoshift, array, axis, shift, boundary)
    where, steps = _axis(dim, 0), _number(shift)
    assert where is not None
    moved = np.moveaxis(array, where, 0)
    result = np.empty_like(moved)
    extent = len(moved)
    if boundary is None:
        some = next(iter(array.flat), 0)
        blank: Any = " " * len(some) if isinstance(some, str) else type(some)(0)
    else:
        blank = boundary if np.ndim(boundary) else np.asarray(boundary)[()]
    result[...] = blank
    kept = max(extent - abs(steps), 0)
    if kept and steps >= 0:
        result[:kept] = moved[steps:]
    elif kept:
        result[-kept:] = moved[:kept]
    return np.moveaxis(result, 0, where)


def _reducer(function: Any, start: Any) -> Callable[..., Any]:
    def reduce(array: np.ndarray, dim: Any = None, mask: Any = None) -> Any:
        if mask is not None:
            array = np.where(np.broadcast_to(mask, array.shape).astype(bool), array, start)
        return function.reduce(array, axis=_axis(dim), initial=start, dtype=object)

    return reduce


def _logical(function: Any) -> Callable[..., Any]:
    def reduce(mask: np.ndarray, dim: Any = None, kind: Any = None) -> Any:
        found = function(mask.astype(bool), axis=_axis(dim))
        return objects(found)

    return reduce


def _location(pick: Any) -> Callable[..., Any]:
    def locate(
        array: np.ndarray, dim: Any = None, mask: Any = None, kind: Any = None, back: Any = None
    ) -> Any:
        allowed = np.broadcast_to(True if mask is None else mask, array.shape).astype(bool)

        def one(cells: Sequence[tuple[Any, Any]]) -> Any:
            if not cells:
                return None
            best = pick(x for x, _ in cells)
            places = [at for x, at in cells if x == best]
            return places[-1] if back is not None and np.asarray(back)[()] else places[0]

        if dim is None:
            cells = [
                (array[tuple(reversed(at))], tuple(reversed(at)))
                for at in np.ndindex(*reversed(array.shape))
                if allowed[tuple(reversed(at))]
            ]
            found = one(cells)
            return objects([0] * array.ndim if found is None else [k + 1 for k in found])
        where = _number(dim) - 1
        moved, open_ = np.moveaxis(array, where, -1), np.moveaxis(allowed, where, -1)
        result = np.empty(moved.shape[:-1], dtype=object)
        for at in np.ndindex(*result.shape):
            found = one([(x, k) for k, (x, m) in enumerate(zip(moved[at], open_[at])) if m])
            result[at] = 0 if found is None else found + 1
        return result

    return locate


def np_findloc(array: np.ndarray, value: Any, **rest: Any) -> Any:
    hit = objects(array == value)
    mask = rest.pop("mask", None)
    allowed = hit.astype(bool) if mask is None else hit.astype(bool) & np.asarray(mask).astype(bool)
    return _location(max)(objects(np.ones(array.shape, dtype=int)), mask=allowed, **rest)


def np_pack(array: np.ndarray, mask: Any, vector: Any = None) -> np.ndarray:
    taken = array.flatten(order="F")[np.broadcast_to(mask, array.shape).flatten(order="F").astype(bool)]
    return taken if vector is None else np.concatenate([taken, vector[len(taken) :]])


def np_unpack(vector: np.ndarray, mask: np.ndarray, field: Any) -> np.ndarray:
    flat = np.array(np.broadcast_to(field, mask.shape)).flatten(order="F")
    where = mask.flatten(order="F").astype(bool)
    flat[where] = vector[: where.sum()]
    return flat.reshape(mask.shape, order="F")


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if any(isinstance(e, bool | np.bool_) for e in (*x.flat, *y.flat)):
        return objects(np.dot(x.astype(int), y.astype(int)) > 0)
    return objects(np.dot(x, y) if x.shape[-1] else np.zeros((*x.shape[:-1], *y.shape[1:]), dtype=int))


TRANSFORMATIONAL: dict[str, Callable[..., Any]] = {
    "transpose": lambda matrix: matrix.T,
    "spread": np_spread,
    "reshape": np_reshape,
    "cshift": np_cshift,
    "eoshift": np_eoshift,
    "sum": _reducer(np.add, 0),
    "product": _reducer(np.multiply, 1),
    "maxval": _reducer(np.maximum, LEAST),
    "minval": _reducer(np.minimum, GREATEST),
    "iall": _reducer(np.bitwise_and, -1),
    "iany": _reducer(np.bitwise_or, 0),
    "iparity": _reducer(np.bitwise_xor, 0),
    "all": _logical(np.all),
    "any": _logical(np.any),
    "count": _logical(np.count_nonzero),
    "parity": _logical(lambda x, axis: np.count_nonzero(x, axis=axis) % 2 == 1),
    "maxloc": _location(max),
    "minloc": _location(min),
    "findloc": np_findloc,
    "pack": np_pack,
    "unpack": np_unpack,
    "matmul": lambda matrix_a, matrix_b: _product(matrix_a, matrix_b),
    "dot_product": lambda vector_a, vector_b: _product(np.conjugate(vector_a), vector_b),
    "norm2": lambda x, dim=None: np.sqrt((x.astype(float) ** 2).sum(axis=_axis(dim))),
    "shape": lambda source, kind=None: objects(list(source.shape)),
}
