"""A parsed unit that is independent of its parser. Its trees can be sent to another process."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from regionpredict.frontend.linking.class_objects import ClassObjects, class_objects
from regionpredict.frontend.linking.container_lengths import Length, container_lengths
from regionpredict.frontend.linking.stored_sizes import StoredSizes, stored_sizes
from regionpredict.frontend.syntax import Decl, Function, Pragma, Unit, calls_in
from regionpredict.frontend.text import IDENTIFIER, unreached
from regionpredict.ir import Span
from regionpredict.ir.reached import reached


class Body(NamedTuple):
    """A function with its text, which is searched for names before its tree is built."""

    function: Function
    text: bytes


class Trees(NamedTuple):
    """The syntax trees of a unit.

    `functions` are the functions with directives. `bodies` are all functions that may be called.
    `defined` maps declarations to functions. `modelled` are the names of library functions that
    have models as bodies. `variables` are external variables with an initializer. `objects` are the
    objects of each class, `lengths` the lengths of containers, and `stored` the assignments to
    structs and arrays. The other fields are unchanged from the parser.
    """

    functions: tuple[Function, ...]
    bodies: tuple[Body, ...]
    defined: dict[Decl, Function]
    variables: tuple[Decl, ...]
    directives: tuple[tuple[str, Pragma], ...]
    errors: tuple[Span, ...]
    getters: frozenset[tuple[str, str]] = frozenset()
    objects: ClassObjects = ClassObjects()
    reassociates: bool = False
    threadprivate: frozenset[str] = frozenset()
    lengths: dict[Decl, Length] = {}  # noqa: RUF012  # never modified
    stored: StoredSizes = StoredSizes()
    modelled: frozenset[str] = frozenset()

    def words_in_functions(self) -> frozenset[str]:
        """Returns all words in the text of the functions."""
        words: set[bytes] = set()
        for body in self.bodies:
            words.update(IDENTIFIER.findall(body.text))
        return frozenset(word.decode() for word in words)

    def called_names(self) -> frozenset[str]:
        """Returns the names of called functions, including names that a macro pastes together."""
        return frozenset(decl.name for body in self.bodies for decl in calls_in(body.function.body))


class PackedUnit(NamedTuple):
    """The syntax trees of a unit as bytes, with the data that show whether another unit uses them.

    `defines` are the symbols of the unit's external functions, and `variables` the symbols of its
    external variables with an initializer. `names` are all words in the text of its functions, and
    `directives` is the number of its OpenMP directives.
    """

    path: str
    defines: dict[str, Span]
    variables: frozenset[str]
    names: frozenset[str]
    data: bytes
    objects: ClassObjects = ClassObjects()
    stored: StoredSizes = StoredSizes()
    directives: int = 0

    def trees(self) -> Trees:
        """Unpacks the syntax trees."""
        trees: Trees = pickle.loads(self.data)
        return trees


def pack_unit(path: str, trees: Trees) -> PackedUnit:
    """Packs the syntax trees of a file's unit as bytes."""
    return PackedUnit(
        path,
        {
            decl.symbol: f.span
            for decl, f in trees.defined.items()
            if decl.symbol and decl.name not in trees.modelled
        },
        frozenset(decl.symbol for decl in trees.variables),
        trees.words_in_functions(),
        pickle.dumps(trees, pickle.HIGHEST_PROTOCOL),
        trees.objects,
        trees.stored,
        len(trees.directives),
    )


def trees_of(unit: Unit) -> Trees:
    """Returns the syntax trees of all functions of a unit that can be called."""
    bodies = tuple(_callable_bodies(unit))
    defined = {body.function.decl: body.function for body in bodies}
    if unit.overloads:  # a call may refer to an instance of a template

        def called(function: Function) -> Iterator[Function]:
            for decl in calls_in(function.body):
                if decl not in defined and (meant := unit.body_of(decl)) is not None:
                    defined[decl] = meant
                    yield meant

        reached([body.function for body in bodies], called)
    objects, lengths = ClassObjects(), dict[Decl, Length]()
    if unit.overloads and unit.directives:
        objects = class_objects(defined.values(), unit.base_classes)
        lengths = container_lengths(defined.values())
    variables = tuple(unit.variables())
    stored = stored_sizes((body.function for body in bodies), variables, defined)
    return Trees(unit.functions, bodies, defined, variables, unit.directives,
                 unit.errors, unit.getters(), objects, unit.reassociates, unit.threadprivate,
                 lengths, stored)  # fmt: skip


def with_models(trees: Trees, models: Iterable[tuple[Trees, Collection[str]]]) -> Trees:
    """Adds the functions with these names from each model, and the functions that they call, as if
    the unit included their bodies. Functions that the unit itself defines are excluded.
    """
    own = {decl.name for decl in trees.defined}
    added: dict[Decl, Body] = {}
    for model, names in models:
        added |= _with_callees(model, set(names) - own)
    # Helper functions of models are excluded, since a program may use their names otherwise.
    modelled = {decl.name: body.function for decl, body in added.items() if decl.symbol}
    called = {decl for body in trees.bodies for decl in calls_in(body.function.body)}
    defined = dict(trees.defined)
    defined |= {decl: modelled[decl.name] for decl in called - defined.keys()
                if decl.name in modelled}  # fmt: skip
    defined |= {decl: body.function for decl, body in added.items()}
    bodies = (*trees.bodies, *added.values())
    stored = stored_sizes((body.function for body in bodies), trees.variables, defined)
    return trees._replace(
        bodies=bodies, defined=defined, stored=stored, modelled=frozenset(modelled)
    )


def _with_callees(model: Trees, names: Collection[str]) -> dict[Decl, Body]:
    """Returns the functions with these names in a model, and the functions that they call."""
    known = {body.function.decl: body for body in model.bodies}
    needed = reached(
        [decl for decl in known if decl.name in names],
        lambda decl: [one for one in calls_in(known[decl].function.body) if one in known],
    )
    return {decl: known[decl] for decl in needed}


def _callable_bodies(unit: Unit) -> list[Body]:
    """Returns all functions except those that only this unit could call and does not call.

    Each file that includes a header of helper functions contains all of them, but calls only a few.
    """
    uncalled: set[str] = set()
    if not unit.overloads:  # operators and methods may be called without their name
        directed = {function.name for function in unit.functions}
        places = [
            (located.name, located.file, located.begin, located.end) for located in unit.located
        ]
        private = {located.name for located in unit.located if located.private}
        uncalled = unreached(places, private - directed, unit.texts)
    return [
        Body(function, unit.texts.get(located.file, b"")[located.begin : located.end])
        for located in unit.located
        if located.name not in uncalled and (function := located.build()) is not None
    ]
