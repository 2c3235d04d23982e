"""How much new memory the costs of its first write are told for, in shares of the last cache.

A page that the system clears was in use a moment ago where little is asked for, and is still in
the cache; where much is, its lines go out to memory as they are cleared (on Zen 5, 32 MiB shared by
two cores, 1.17 us for a page of 4 KiB up to 4 MiB, 1.25 at 16 MiB, 1.38 at 64 MiB).
"""

from __future__ import annotations

from typing import Final

NEW_IN_CACHE: Final = 1 / 16
"""Share of the last cache that the memory of `first_touch` takes."""
NEW_BEYOND: Final = 2.0
"""Share of the last cache that the memory of `first_touch_beyond` takes."""
