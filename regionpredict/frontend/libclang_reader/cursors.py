"""Builds a tree of nodes from libclang's cursors, and names the cursor kinds."""

from __future__ import annotations

from regionpredict.frontend.libclang_reader import bindings as lc

# Values of CXCursorKind that are used by name.
ENUMERATION, LABEL, TRANSLATION_UNIT = 5, 48, 350
UNNAMED_ATTRIBUTE = 400  # an attribute without its own kind: `[[noreturn]]`
STRUCT, BASE = 2, 44
UNNAMED_DECLARATION = 1  # `[a, b]` of a structured binding, and each of its names
FIELD, ENUMERATOR, VARIABLE, PARAMETER, CONSTRUCTOR = 6, 7, 9, 10, 24
FUNCTIONS = frozenset((8, 21, CONSTRUCTOR, 25, 26, 30))
FUNCTION_TEMPLATE, OVERLOADED = 30, 49
TEMPLATED_CLASSES = frozenset((31, 32))
METHODS = frozenset((21, CONSTRUCTOR, 25, 26))
CONTAINERS = frozenset((1, 2, 4, 22, 23, 31, 32))  # kinds that may contain functions
IMPLICIT, NAME, MEMBER, CALL, PARENTHESES = 100, 101, 102, 103, 111
UNARY, SUBSCRIPT, BINARY = 112, 113, 114
MEMBER_NAME = 47  # in `.nx = 4`
WRAPPERS = frozenset((IMPLICIT, PARENTHESES))
ATTRIBUTED, BLOCK, FOR, TRY, RANGE_FOR, DECLARATIONS = 200, 202, 209, 224, 225, 231
LOOPS = frozenset((FOR, RANGE_FOR))


class Node:
    """A libclang cursor with its children in source order."""

    __slots__ = ("children", "cursor", "kind")

    def __init__(self, cursor: lc.Cursor, kind: int) -> None:
        self.cursor = cursor
        self.kind = kind
        self.children: list[Node] = []


def identity_of(cursor: lc.Cursor) -> int:
    """Returns the address of the syntax node at a cursor, which identifies the node."""
    return int((cursor.data1 if 100 <= cursor.kind < 500 else cursor.data0) or 0)


def build_tree(root: lc.Cursor) -> Node:
    """Returns the tree of all nodes below a cursor."""
    top = Node(root, root.kind)
    nodes = {identity_of(root): top}
    find = nodes.get

    def visit(cursor: lc.Cursor, parent: lc.Cursor, _data: object) -> int:
        kind = cursor.kind
        key = parent.data1 if 100 <= parent.kind < 500 else parent.data0
        own = cursor.data1 if 100 <= kind < 500 else cursor.data0
        if own == key and kind == parent.kind:
            return 2  # the condition of `if constexpr` is its own child
        node = Node(cursor, kind)
        find(key, top).children.append(node)
        nodes[own or 0] = node
        return 2  # recurse

    lc.visit(root, visit)
    return top


def unwrap_node(node: Node, kinds: frozenset[int] = WRAPPERS) -> Node:
    """Returns the node inside wrappers of these kinds, by default implicit conversions and
    parentheses.
    """
    while node.kind in kinds and len(node.children) == 1:
        node = node.children[0]
    return node
