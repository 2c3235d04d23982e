"""Input: source text. Output: directives, macros and offsets of names, found without a parser.

`pragmas` finds the OpenMP directives, and `inactive` those that a false `#if` disables. `macros`
expands macros in them, and `attach_pragmas` assigns them to statements. `name_occurrences` finds
names and their writes, and `passages` finds the names that each function defines and uses.
"""

from regionpredict.frontend.text.attach_pragmas import (
    Attacher,
    loop_over_sections,
    standalone_directive,
    with_directives,
)
from regionpredict.frontend.text.inactive import (
    conditions_of_directives,
    has_directive,
    inactive_loops,
)
from regionpredict.frontend.text.left_out_macros import left_out_macros, note_on_guesses
from regionpredict.frontend.text.macros import MacroTable
from regionpredict.frontend.text.name_occurrences import (
    IDENTIFIER,
    base_classes_in,
    functions_holding,
    places_of_name,
    unreached,
    written_at,
)
from regionpredict.frontend.text.parse_expression import parse_expression
from regionpredict.frontend.text.passages import Passage, holds_directives, passages
from regionpredict.frontend.text.pragmas import (
    find_pragmas,
    may_hold_directives,
    parse_directive,
    with_numbers,
)
from regionpredict.frontend.text.source_text import (
    Masked,
    SourceText,
    blank_comments,
    blank_ranges,
    masked,
    unterminated_comment,
)
from regionpredict.frontend.text.string_literals import string_value
from regionpredict.frontend.text.threads_set import threads_set

__all__ = [
    "IDENTIFIER",
    "Attacher",
    "MacroTable",
    "Masked",
    "Passage",
    "SourceText",
    "base_classes_in",
    "blank_comments",
    "blank_ranges",
    "conditions_of_directives",
    "find_pragmas",
    "functions_holding",
    "has_directive",
    "holds_directives",
    "inactive_loops",
    "left_out_macros",
    "loop_over_sections",
    "masked",
    "may_hold_directives",
    "note_on_guesses",
    "parse_directive",
    "parse_expression",
    "passages",
    "places_of_name",
    "standalone_directive",
    "string_value",
    "threads_set",
    "unreached",
    "unterminated_comment",
    "with_directives",
    "with_numbers",
    "written_at",
]
