"""Order and structure of the constraint rows: who stands near whom, and who meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]


# Rows whose profile is full in any order, so that SciPy need not be imported.
HANDFUL = 12


def order_rows(n_row: Integers, body: Integers, n_slide: int) -> Integers:
    """Give rows numbers such that owners that share a body stand close together.

    Reverse Cuthill-McKee on the graph of joints and contacts. For a handful of rows
    the profile is full in any order. The last `n_slide` rows are of friction in joints,
    and empty as long as these slide: behind all others they then take no part.
    """
    n = len(body)
    order = np.arange(n)
    if max(n_row.sum() - n_slide, n_slide) > HANDFUL:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        k, side = np.nonzero(body >= 0)
        incidence = coo_array(
            (np.ones(len(k)), (k, body[k, side])), shape=(n, body.max() + 1)
        ).tocsr()
        graph = (incidence @ incidence.T).tocsr()
        order = np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True))
    begins = np.zeros(n, dtype=np.int64)
    begins[order] = np.cumsum(n_row[order]) - n_row[order]
    return begins


def groups(n_moving: int, joints: Integers, contacts: Integers) -> Integers:
    """Return the group of each contact: those linked through bodies with mass."""
    leader = leaders(n_moving, joints, contacts)
    owners = leader[contacts.min(axis=1)] if len(contacts) else contacts[:, 0]
    return np.unique(owners, return_inverse=True)[1].astype(np.int64)


def leaders(n_moving: int, joints: Integers, contacts: Integers) -> Integers:
    """Return one body for each body with mass, the same for all that are linked."""
    leader = list(range(n_moving))

    def find(body: int) -> int:
        while leader[body] != body:
            leader[body] = body = leader[leader[body]]
        return body

    for a, b in (*joints.tolist(), *contacts.tolist()):
        if a < n_moving and b < n_moving:
            leader[find(a)] = find(b)
    return np.array([find(body) for body in range(n_moving)], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The constraint rows: bodies of their sides, coefficients, and profile of S."""

    body: Integers  # (n_row, 2), -1 if prescribed
    columns: dict[str, Any]  # of `Tables`
    n_block: int  # coefficients of all rows


def arrange(body: Integers, width: Integers, dof: Integers, is_late: Bools) -> Rows:
    """Return the tables of rows with given bodies on both sides.

    Parameters
    ----------
    body : (n_row, 2)
        Body of each side, -1 if prescribed.
    width, dof : (n_moving)
        Coordinates of each body, and the first of them.
    is_late : (n_row)
        Rows of contacts, whose pairs come last.
    """
    n_row = len(body)
    is_here = body >= 0
    row_n = np.where(is_here, width[body], 0) if len(width) else 0 * body
    row_dof = np.where(is_here, dof[body], -1) if len(width) else body
    ends = np.cumsum(row_n.reshape(-1)).reshape(n_row, 2)
    row_at = ends - row_n
    # Sides of rows by the body they act on.
    row, side = np.nonzero(is_here)
    order = np.argsort(body[row, side], kind="stable")
    row, side = row[order], side[order]
    begin = np.searchsorted(body[row, side], np.arange(len(width) + 1))
    first = np.arange(n_row)
    pairs: list[tuple[int, ...]] = []
    for k in range(len(width)):
        here = slice(begin[k], begin[k + 1])
        rows = row[here]
        if len(rows):
            first[rows] = np.minimum(first[rows], rows[0])
            sides = side[here]
            for i, a in zip(rows.tolist(), sides.tolist(), strict=True):
                for j, b in zip(rows.tolist(), sides.tolist(), strict=True):
                    if j <= i:
                        pairs.append((i, a, j, b, k))
    length = np.arange(n_row) - first + 1
    start = np.cumsum(length) - length - first
    i, a, j, b, k = np.array(pairs, dtype=np.int64).reshape(-1, 5).T
    late = is_late[i] | is_late[j] if len(i) else np.zeros(0, dtype=bool)
    by = np.argsort(late, kind="stable")
    pair = np.stack([row_at[i, a], row_at[j, b], dof[k], start[i] + j], axis=1)
    columns = {
        "pair": pair[by],
        "n_pair": len(i),
        "n_joint_pair": int(np.sum(~late)),
        "n_profile": int(np.sum(length)),
        "n_side": len(row),
        "row_side": np.concatenate([row_dof, row_at], axis=1),
        "row_n": row_n,
        "first": first,
        "start": start,
        "body_first": begin,
        "body_row": np.stack([row, row_at[row, side]], axis=1),
    }
    return Rows(body=body, columns=columns, n_block=int(np.sum(row_n)))
