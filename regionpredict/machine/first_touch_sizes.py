"""The amounts of new memory for which the cost of page faults is measured, relative to the
last-level cache.

With little memory, the kernel clears pages that are still in the cache. With much memory, cleared
lines are evicted to memory. For example, on Zen 5 with 32 MiB shared by two cores, a page of 4 KiB
takes 1.17 µs up to 4 MiB, 1.25 µs at 16 MiB, and 1.38 µs at 64 MiB.
"""

from __future__ import annotations

from typing import Final

NEW_IN_CACHE: Final = 1 / 16
"""The memory of `first_touch` as a share of the last-level cache."""
NEW_BEYOND: Final = 2.0
"""The memory of `first_touch_beyond` as a share of the last-level cache."""
