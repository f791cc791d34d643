"""Which of many proposed moves to make together: ever fewer, those of the largest gains.

Gains are put into classes, CLASSES per factor of two, so that the parts of a table need only count
them. A batch holds the moves from some class on; the next one about half as many. Moves of the last
class may still undo each other (two rows that change places gain nothing): then fewer of these, in
the order of the rows, down to one.
"""

from collections.abc import Iterator

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, counts, namespace_of
from featsieve.arrays.row_parts import RowParts, Rows

CLASSES = 4
# The classes begin at gains of 2^-80; those of 2^20 and more are in the last one.
SMALLEST_EXPONENT = -80
N_CLASSES = CLASSES * 100

Proposal = tuple[Array, Array]  # the best cluster of every row, and the class of its gain


def gain_classes(gain: Array) -> Array:
    """Return the class of every gain; -1 where there is none."""
    xp = namespace_of(gain)
    possible = gain > 2.0**SMALLEST_EXPONENT
    exponent = xp.log2(xp.where(possible, gain, xp.ones_like(gain))) - SMALLEST_EXPONENT
    kind = xp.clip(xp.floor(CLASSES * exponent), max=N_CLASSES - 1.0)
    return xp.astype(xp.where(possible, kind, -xp.ones_like(kind)), xp.int32)


def batches(parts: RowParts, proposals: Rows) -> Iterator[tuple[Rows, int]]:
    """Yield batches of the proposed moves: proposals, and the least class that is made of them."""
    (found,) = parts.total(count_gains, proposals, table=False)
    # at_least[g]: how many moves have a gain of class g or more
    at_least = np.cumsum(found[::-1])[::-1]
    if at_least[0] == 0:
        return
    last = int(np.flatnonzero(at_least)[-1])
    least = 0
    while True:
        yield proposals, least
        if at_least[least] == at_least[last]:
            break
        # at most half of the moves, or the last class where it has more
        few = at_least[:last] <= at_least[least] / 2
        least = int(np.argmax(np.append(few, True)))
    numbers = parts.scatter(np.arange(parts.bounds[-1][1]))
    rows = parts.gather(parts.map(rows_of, proposals, numbers, shared=(least,), table=False))
    n_moves = len(rows)
    while n_moves > 1:
        n_moves //= 2
        fewer = parts.map(up_to, proposals, numbers, shared=(int(rows[n_moves]),), table=False)
        yield fewer, least


# Functions of a part ------------------------------------------------------------------------------


def count_gains(part: DataOperator, proposal: Proposal) -> tuple[np.ndarray]:
    """Return how many moves there are in every class of gains."""
    kinds = proposal[1]
    return (counts(kinds + 1, N_CLASSES + 1)[1:],)  # class -1: no gain


def rows_of(part: DataOperator, proposal: Proposal, numbers: Array, least: int) -> Array:
    """Return the numbers of the rows whose moves have at least some class."""
    return numbers[proposal[1] >= least]


def up_to(part: DataOperator, proposal: Proposal, numbers: Array, end: int) -> Proposal:
    """Return the moves of the rows before some number alone."""
    best, kinds = proposal
    return best, part.xp.where(numbers < end, kinds, -part.xp.ones_like(kinds))


def moved_labels(part: DataOperator, labels: Array, proposal: Proposal, least: int) -> Array:
    """Return the partition after the moves of at least some class of gains."""
    best, kinds = proposal
    return part.xp.where(kinds >= least, part.xp.astype(best, labels.dtype), labels)
