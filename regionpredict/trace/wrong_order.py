"""Late senders that need not have been waited for: messages were taken in the wrong order."""

from __future__ import annotations

import ctypes
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.kernels import Kernels

_RECEIVE = -1


class Order(IntEnum):
    """Whether a message that was sent earlier came to be received later, and from whom."""

    RIGHT = 0
    DIFFERENT_SOURCE = 1
    SAME_SOURCE = 2


class _WrongOrder(ctypes.Structure):
    _fields_ = [
        ("locations", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("first", "sent", "source", "instance", "found")),
    ]


def wrong_order(
    locations: int,
    receives: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]],
    late: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]],
    kernels: Kernels,
) -> NDArray[np.uint8]:
    """The `Order` of each late sender.

    Both are columns: the event (a row of the trace) at which a message is there, or from which on
    a late sender is known; its location; the time the message was sent; the rank that sent it.
    A later receive of a message that was sent before shows that the order was wrong (Scalasca
    2.6, which remembers a hundred late senders a rank, as this does).
    """
    found = np.zeros(len(late[0]), dtype=np.uint8)
    if not len(found):
        return found
    event, location, sent, source = (
        np.concatenate(pair) for pair in zip(late, receives, strict=True)
    )
    instance = np.full(len(event), _RECEIVE, dtype=np.int64)
    instance[: len(found)] = np.arange(len(found))
    order = np.lexsort((event, location))
    first = np.searchsorted(location[order], np.arange(locations + 1)).astype(np.int64)
    columns = {
        "first": first,
        "sent": np.ascontiguousarray(sent[order], dtype=np.int64),
        "source": np.ascontiguousarray(source[order], dtype=np.int32),
        "instance": instance[order],
        "found": found,
    }
    table = _WrongOrder(
        locations=locations, **{name: column.ctypes.data for name, column in columns.items()}
    )
    kernels.load("wrong_order.c").rp_wrong_order(ctypes.byref(table))
    return found
