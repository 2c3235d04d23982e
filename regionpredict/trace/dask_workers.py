"""Executes a parallel map on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from regionpredict.errors import InputError, with_extra

_SECONDS = 30  # timeout for the scheduler's response


def cluster_spread(address: str) -> Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]:
    """Returns a parallel map that computes `[work(item) for item in items]` on the workers of the
    Dask scheduler at `address`.

    The workers need this package, a C compiler of the same name, and access to files under the same
    paths. Raises InputError if the package distributed is missing or the scheduler does not
    respond.
    """
    try:
        from distributed import Client  # noqa: PLC0415 (an extra)
    except ImportError:
        raise InputError(
            "work on a cluster needs the package distributed",
            remedy=with_extra("dask"),
        ) from None

    connect: Any = Client

    def spread(work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        try:
            client: Any = connect(address, timeout=_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {address}: {error}", remedy="check the address"
            ) from None
        with client:
            futures = client.map(work, items, pure=False)
            results: list[Any] = client.gather(futures)
            return results

    return spread
