"""Finds late senders whose messages were received in the wrong order, so that the wait was
avoidable.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.kernels import Kernels, c_struct

_RECEIVE = -1


class Order(IntEnum):
    """The order of a received message: whether a message sent earlier is received later, and from
    which rank.
    """

    RIGHT = 0
    DIFFERENT_SOURCE = 1
    SAME_SOURCE = 2


class Messages(NamedTuple):
    """Received messages as columns. `event` is the row at which a message has arrived, or at which
    a late sender is known. `sent` is the time of the send, and `source` the rank of the sender.
    """

    event: NDArray[np.int64]
    location: NDArray[np.int32]
    sent: NDArray[np.int64]
    source: NDArray[np.int32]


def wrong_order(
    locations: int, receives: Messages, late: Messages, kernels: Kernels
) -> NDArray[np.uint8]:
    """Returns the `Order` of each late sender's message.

    The order is wrong if a message that was sent earlier is received later. Like Scalasca 2.6, this
    function keeps the last hundred late senders per rank.
    """
    array = np.zeros(len(late.event), dtype=np.uint8)
    if not len(array):
        return array
    location = np.concatenate([late.location, receives.location])
    instance = np.full(len(location), _RECEIVE, dtype=np.int64)
    instance[: len(array)] = np.arange(len(array))
    # Events are stored location by location, so their order is also that of locations.
    order = np.argsort(np.concatenate([late.event, receives.event]), kind="stable")
    first = np.searchsorted(location[order], np.arange(locations + 1)).astype(np.int64)
    sent = np.concatenate([late.sent, receives.sent])[order].astype(np.int64)
    source = np.concatenate([late.source, receives.source])[order].astype(np.int32)
    instance = instance[order]
    table = c_struct(
        locations=locations, first=first, sent=sent, source=source, instance=instance, found=array
    )
    kernels.load("wrong_order.c").rp_wrong_order(ctypes.byref(table))
    return array
