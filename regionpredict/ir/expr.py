"""Symbolic integers. They are polynomials with rational coefficients over the program's names.

A trip count `(n*n - n)/2`, a subscript `i*n + j` and a footprint `8*ni*nk` are all values of the
type `Expr`. Any other value is an `Atom`, for example a floor division, a minimum, or `idx[i]`. An
atom contains its operands and is printed as C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from regionpredict.ir.compiled_expr import COMPILED_FROM, compiled, reduced
from regionpredict.ir.folding import Number, fold_of
from regionpredict.ir.recurrence import rounds, trips


class Atom(NamedTuple):
    """A term that is not a polynomial. It applies the operator `kind` to `args`.

    `kind` is `floordiv`, `mod`, `min`, `max`, a comparison, or a logical or bitwise operator (`lt`,
    `and`, `bitand`, ...). `select` has the operands condition, then and else. `exp2` is two to the
    power of its operand, for shifts: `n << k` is `n*exp2(k)`. `wrap` is the conversion to an
    integer type, with the operands value, bits, and whether the type is unsigned. `ref` is a value
    read from an array: `label[args]`, or `t[args].n` for the label `t[].n`. `call` is
    `label(args)`. `varying` is a scalar whose value changes in an unknown way. `state`, `trips`
    and `carried` describe recurrences (`recurrence.py`). A `state` is a value that a loop carries
    from one iteration to the next. `trips` counts the iterations of such a loop, and `carried`
    (number, state, ...) is the state after that number of iterations. `label` is the name of the
    array, function, type or variable. A `floordiv` or `mod` with `TRUNCATES` rounds towards zero,
    as in C. `over` names the loop variables that a `varying` value changes with.
    """

    kind: str
    args: tuple[Expr, ...]
    label: str = ""
    over: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """Every name that the value depends on, including names in operands."""
        return self.over.union(*(arg.names for arg in self.args))

    def __str__(self) -> str:
        return _format_factor(self)


Factor = str | Atom
Monomial = tuple[tuple[Factor, int], ...]  # (factor, power), sorted; () is the constant

_CARRIED = frozenset(("state", "trips", "carried"))
_SYMBOL = {
    "floordiv": "/", "mod": "%", "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "and": "&&",
    "or": "||", "bitand": "&", "bitor": "|", "bitxor": "^",
}  # fmt: skip
_PREFIX = {"not": "!", "bitnot": "~"}


def _factor_key(item: tuple[Factor, int]) -> tuple[str, int]:
    return _format_factor(item[0]), item[1]


class Expr:
    """An immutable polynomial over names and atoms.

    >>> n, i = Expr.name("n"), Expr.name("i")
    >>> str((n * n - n) * Fraction(1, 2))
    '(n*n - n)/2'
    >>> str(8 * n * i + 16 * i), (n - 1).evaluate({"n": 10})
    ('8*(i*n + 2*i)', 9)
    """

    __slots__ = (
        "_evaluations",
        "_function",
        "_hash",
        "_kinds",
        "_names",
        "_size",
        "_text",
        "terms",
    )

    terms: dict[Monomial, Number]

    def __init__(self, terms: dict[Monomial, Number]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._kinds: frozenset[str] | None = None
        self._names: frozenset[str] | None = None
        self._size = 0
        self._text = ""
        self._evaluations = 0
        self._function: Callable[[Mapping[str, Number]], Number] | None = None

    def __reduce__(self) -> tuple[type[Expr], tuple[dict[Monomial, Number]]]:
        """Pickles only the terms. Computed properties are recomputed when they are needed."""
        return Expr, (self.terms,)

    # -- construction ---------------------------------------------------------------------------

    @staticmethod
    def const(value: Number) -> Expr:
        """Returns a number as an expression."""
        return Expr({(): reduced(value)} if value else {})

    @staticmethod
    @lru_cache(maxsize=4096)
    def name(name: str) -> Expr:
        """Returns a variable of the program as an expression. Equal names are the same variable."""
        return Expr({((name, 1),): 1})

    @staticmethod
    def atom(kind: str, *args: Expr, label: str = "", over: Iterable[str] = ()) -> Expr:
        """Returns an atom as an expression, or a number if all operands are numbers."""
        values = [arg.constant for arg in args]
        fold = fold_of(kind, label)
        divides_by_zero = kind in ("floordiv", "mod") and values[1] == 0
        if fold and args and not divides_by_zero and None not in values:
            return Expr.const(fold(*values))
        if kind == "floordiv" and values[1] == 1:
            return args[0]
        if kind in _CARRIED and not any(arg.names for arg in args):
            number = _recurrence_value(kind, args, {})
            if number is not None:
                return Expr.const(number)
        if kind in ("min", "max") and args[0] == args[1]:
            return args[0]
        return Expr({((Atom(kind, args, label, frozenset(over)), 1),): 1})

    # -- queries --------------------------------------------------------------------------------

    @property
    def constant(self) -> Number | None:
        """The value if the expression contains no names. None otherwise."""
        if not self.terms:
            return 0
        if len(self.terms) == 1:
            return self.terms.get(())
        return None

    @property
    def names(self) -> frozenset[str]:
        """Every name that the value depends on, including names inside atoms."""
        if self._names is None:
            names: set[str] = set()
            for monomial in self.terms:
                for factor, _ in monomial:
                    if isinstance(factor, str):
                        names.add(factor)
                    else:
                        names |= factor.names
            self._names = frozenset(names)
        return self._names

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of all atoms, including nested ones."""
        if self._kinds is None:
            kinds: set[str] = set()
            for monomial in self.terms:
                for factor, _ in monomial:
                    if isinstance(factor, Atom):
                        kinds.add(factor.kind)
                        kinds.update(*(arg.kinds for arg in factor.args))
            self._kinds = frozenset(kinds)
        return self._kinds

    @property
    def is_plain(self) -> bool:
        """Whether the value depends only on names and numbers, and not on memory or calls."""
        return self.kinds.isdisjoint(("varying", "call", "ref"))

    @property
    def size(self) -> int:
        """The number of names, numbers and operators, including those inside atoms."""
        if not self._size:
            total = 1
            for monomial in self.terms:
                total += 1
                for factor, _ in monomial:
                    total += 1
                    if isinstance(factor, Atom):
                        total += sum(arg.size for arg in factor.args)
            self._size = total
        return self._size

    @property
    def only_atom(self) -> Atom | None:
        """The atom, if the expression consists of a single atom."""
        [monomial, *others] = self.terms or [()]
        if others or len(monomial) != 1 or monomial[0][1] != 1 or self.terms[monomial] != 1:
            return None
        factor = monomial[0][0]
        return factor if isinstance(factor, Atom) else None

    def atoms(self) -> Iterable[Atom]:
        """All atoms, including nested ones."""
        for monomial in self.terms:
            for factor, _ in monomial:
                if isinstance(factor, Atom):
                    yield factor
                    for arg in factor.args:
                        yield from arg.atoms()

    def coefficient(self, name: str) -> Expr | None:
        """The coefficient of `name` if the expression is linear in it. None otherwise.

        >>> str(Expr.name("i").__mul__(Expr.name("n")).coefficient("i"))
        'n'
        """
        result: dict[Monomial, Number] = {}
        for monomial, number in self.terms.items():
            rest: list[tuple[Factor, int]] = []
            power = 0
            for factor, exponent in monomial:
                if factor == name:
                    power = exponent
                elif isinstance(factor, Atom) and name in factor.names:
                    return None
                else:
                    rest.append((factor, exponent))
            if power > 1:
                return None
            if power:
                result[tuple(rest)] = number
        return Expr(result)

    def without(self, names: Iterable[str]) -> Expr:
        """The terms that contain none of `names`."""
        excluded = set(names)
        return Expr({m: c for m, c in self.terms.items() if not (Expr({m: 1}).names & excluded)})

    # -- arithmetic -----------------------------------------------------------------------------

    def __add__(self, other: Expr | Number) -> Expr:
        if not isinstance(other, Expr):
            other = Expr.const(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        terms = dict(self.terms)
        for monomial, number in other.terms.items():
            total = terms.get(monomial, 0) + number
            if total:
                terms[monomial] = reduced(total)
            else:
                terms.pop(monomial, None)
        return Expr(terms)

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return Expr({monomial: -number for monomial, number in self.terms.items()})

    def __sub__(self, other: Expr | Number) -> Expr:
        return self + (-other)

    def __rsub__(self, other: Number) -> Expr:
        return (-self) + other

    def __mul__(self, other: Expr | Number) -> Expr:
        if not isinstance(other, Expr):
            if other == 0:
                return ZERO
            return Expr({m: reduced(c * other) for m, c in self.terms.items()})
        value = other.constant
        if value is not None:
            return self * value
        terms: dict[Monomial, Number] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                monomial = _multiply_monomials(left, right)
                total = terms.get(monomial, 0) + a * b
                if total:
                    terms[monomial] = reduced(total)
                else:
                    terms.pop(monomial, None)
        return Expr(terms)

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Expr:
        result = self if power else ONE
        for _ in range(power - 1):
            result = result * self
        return result

    def over(self, divisor: int) -> Expr:
        """Returns the exact quotient, which may have rational coefficients."""
        return self * Fraction(1, divisor)

    def divided(self, product: Expr) -> Expr | None:
        """Returns the exact quotient by a single term. None if it is not a polynomial.

        >>> n, w = Expr.name("n"), Expr.name("w")
        >>> str((n * w * 8 + w * 4).divided(w * 2)), (n * w + 1).divided(w)
        ('4*n + 2', None)
        """
        if len(product.terms) != 1:
            return None
        ((factors, number),) = product.terms.items()
        terms: dict[Monomial, Number] = {}
        for monomial, coefficient in self.terms.items():
            powers = dict(monomial)
            for factor, power in factors:
                powers[factor] = powers.get(factor, 0) - power
            if min(powers.values(), default=0) < 0:
                return None
            left = tuple((factor, powers[factor]) for factor, _ in monomial if powers[factor])
            terms[left] = reduced(Fraction(coefficient) / number)
        return Expr(terms)

    # -- substitution ---------------------------------------------------------------------------

    def substitute(self, values: Mapping[str, Expr]) -> Expr:
        """Replaces names by expressions, including the names inside atoms."""
        if self.names.isdisjoint(values):
            return self
        result = ZERO
        for monomial, number in self.terms.items():
            kept: list[tuple[Factor, int]] = []  # in their original order
            moved: list[tuple[Expr, int]] = []
            for factor, power in monomial:
                if isinstance(factor, str):
                    value = values.get(factor)
                    if value is None:
                        kept.append((factor, power))
                    else:
                        moved.append((value, power))
                elif factor.names.isdisjoint(values):
                    kept.append((factor, power))
                else:
                    args = tuple(arg.substitute(values) for arg in factor.args)
                    base = Expr.atom(factor.kind, *args, label=factor.label, over=factor.over)
                    moved.append((base, power))
            term = Expr({tuple(kept): number})
            for base, power in moved:
                term = term * base**power
            result = result + term
        return result

    def replace_atoms(self, replacement: Callable[[Atom], Expr | None]) -> Expr:
        """Replaces each atom for which `replacement` returns an expression.

        If `replacement` returns None, the atom is kept and its operands are visited.

        >>> cells = Expr.atom("ref", Expr.const(0), label="grid") * 2
        >>> str(cells), cells.names
        ('2*grid[0]', frozenset())
        >>> cells.replace_atoms(lambda atom: Expr.name(str(atom))).names
        frozenset({'grid[0]'})
        """
        if not self.kinds:
            return self
        result = ZERO
        for monomial, number in self.terms.items():
            term = Expr.const(number)
            for factor, power in monomial:
                if isinstance(factor, str):
                    base = Expr.name(factor)
                else:
                    base = replacement(factor) or Expr.atom(
                        factor.kind, *(arg.replace_atoms(replacement) for arg in factor.args),
                        label=factor.label, over=factor.over,
                    )  # fmt: skip
                term = term * base**power
            result = result + term
        return result

    @property
    def has_unreadable_part(self) -> bool:
        """Whether the expression has a part without a name, such as `row[i]` or `next(i)`."""
        return any(
            fold_of(atom.kind) is None
            and atom.kind not in _CARRIED
            and not (atom.kind == "varying" and not atom.over)
            for atom in self.atoms()
        )

    def evaluate(self, bindings: Mapping[str, Number]) -> Number | None:
        """Returns the value if `bindings` has a value for every name. None otherwise.

        The result is exact: an integer or fraction of any size.
        """
        if self._function is not None:
            try:
                return reduced(self._function(bindings))
            except (KeyError, ZeroDivisionError):
                return None
        self._evaluations += 1
        if self._evaluations == COMPILED_FROM:
            self._function = _compiled_function(self)
        total: Number = 0
        for monomial, coefficient in self.terms.items():
            product = coefficient
            for factor, power in monomial:
                if isinstance(factor, str):
                    value = bindings.get(factor)
                else:
                    value = _evaluate_atom(factor, bindings)
                if value is None:
                    return None
                product = product * value**power
            total += product
        return reduced(total)

    # -- output ---------------------------------------------------------------------------------

    def __str__(self) -> str:
        if not self._text:
            self._text = self._as_text()
        return self._text

    def _as_text(self) -> str:
        if not self.terms:
            return "0"
        divisor = 1
        for number in self.terms.values():
            if isinstance(number, Fraction):
                divisor = divisor * number.denominator // gcd(divisor, number.denominator)
        whole = {m: int(c * divisor) for m, c in self.terms.items()}
        common = 0
        for scaled in whole.values():
            common = gcd(common, scaled)
        if len(whole) < 2 or (divisor == 1 and () in whole and abs(whole[()]) == common):
            common = 1
        body = _format_terms({m: c // common for m, c in whole.items()})
        if common > 1:
            body = f"{common}*({body})"
        if divisor > 1:
            body = f"({body})/{divisor}" if len(whole) > 1 and common == 1 else f"{body}/{divisor}"
        return body

    def __repr__(self) -> str:
        return f"Expr({self})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Expr):
            return self.terms == other.terms
        if isinstance(other, (int, Fraction)):
            return self.constant == other
        return NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash


@lru_cache(maxsize=4096)  # the same few monomials of a loop nest are multiplied repeatedly
def _multiply_monomials(left: Monomial, right: Monomial) -> Monomial:
    if not left:
        return right
    if not right:
        return left
    powers = dict(left)
    for factor, power in right:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted(powers.items(), key=_factor_key))


@lru_cache(maxsize=1024)  # repeated substitutions give equal expressions
def _compiled_function(expression: Expr) -> Callable[[Mapping[str, Number]], Number] | None:
    return compiled(
        expression, lambda atom, values: _recurrence_value(atom.kind, atom.args, values)
    )


def _evaluate_atom(atom: Atom, bindings: Mapping[str, Number]) -> Number | None:
    if atom.kind in _CARRIED:
        return (
            bindings.get(atom.label)
            if atom.kind == "state"
            else _recurrence_value(atom.kind, atom.args, bindings)
        )
    fold = fold_of(atom.kind, atom.label)
    if fold is None:
        return bindings.get(atom.label) if atom.kind == "varying" and not atom.over else None
    values = []
    for arg in atom.args:
        value = arg.evaluate(bindings)
        if value is None:
            return None
        values.append(value)
    if atom.kind in ("floordiv", "mod") and values[1] == 0:
        return None
    return fold(*values)


def _recurrence_value(
    kind: str, args: tuple[Expr, ...], bindings: Mapping[str, Number]
) -> Number | None:
    """Returns the iteration count of a recurrence, or the value of one of its states."""
    if kind == "state":
        return None
    if kind == "trips":
        return trips(args, bindings)
    done, number = rounds(args[2:], bindings), args[0].evaluate(bindings)
    if done is None or number is None or not 0 <= int(number) < len(done.states):
        return None
    (state,) = args[1].atoms()
    return done.states[int(number)][state.label]


def _format_terms(terms: Mapping[Monomial, int]) -> str:
    # Constants come last, as in handwritten code: `n - 1`.
    order = sorted(
        terms, key=lambda m: (m == (), -sum(p for _, p in m), [_factor_key(f) for f in m])
    )
    text = ""
    for monomial in order:
        number = terms[monomial]
        factors = [_format_factor(factor) for factor, power in monomial for _ in range(power)]
        if abs(number) != 1 or not factors:
            factors.insert(0, str(abs(number)))
        term = "*".join(factors)
        if not text:
            text = f"-{term}" if number < 0 else term
        else:
            text += f" - {term}" if number < 0 else f" + {term}"
    return text


def _format_factor(factor: Factor) -> str:
    if isinstance(factor, str):
        return factor
    args = [str(arg) for arg in factor.args]
    if factor.kind in _SYMBOL:
        left, right = factor.args
        of_product = factor.kind in ("floordiv", "mod") and _is_product(right)  # n / (6*m)
        sides = [f"({text})" if parenthesized else text for text, parenthesized in zip(
            args, (len(left.terms) > 1, len(right.terms) > 1 or of_product), strict=True
        )]  # fmt: skip
        return f"({sides[0]} {_SYMBOL[factor.kind]} {sides[1]})"
    if factor.kind in _PREFIX:
        return f"{_PREFIX[factor.kind]}({args[0]})"
    if factor.kind == "exp2":
        return f"(1 << {args[0] if len(factor.args[0].terms) < 2 else f'({args[0]})'})"
    if factor.kind == "wrap":
        return f"({factor.label})({args[0]})"
    if factor.kind == "select":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if factor.kind == "ref":
        return _format_subscripts(factor.label, args)
    if factor.kind in ("varying", "state"):
        return factor.label
    if factor.kind in ("trips", "carried"):
        return _format_recurrence(factor.kind, args)
    return f"{factor.label or factor.kind}({', '.join(args)})"


def _is_product(value: Expr) -> bool:
    """Whether the text of the value contains a `*` between factors."""
    return any(
        len(monomial) > 1 or (monomial and (coefficient != 1 or monomial[0][1] != 1))
        for monomial, coefficient in value.terms.items()
    )


def _format_subscripts(label: str, subscripts: list[str]) -> str:
    """Formats `row[i]`, or `t[i].n` for the label `t[].n`, a member of the elements of an
    array.
    """
    for place, subscript in enumerate(subscripts):
        if "[]" not in label:
            return label + "".join(f"[{other}]" for other in subscripts[place:])
        label = label.replace("[]", f"[{subscript}]", 1)
    return label


def entry_name(entry: Atom, offset: int = 0) -> str:
    """Returns the name of an array entry with letters as subscripts: `row[i]`, `t[i].n`,
    `list[i][j]`. `offset` is added to the last subscript.
    """
    letters = [chr(ord("i") + place) for place in range(len(entry.args))]
    letters[-1] += f"+{offset}" if offset else ""
    return _format_subscripts(entry.label, letters)


def _format_recurrence(kind: str, args: list[str]) -> str:
    """Formats `count(j = 1; j < n; j = 2*j)`, or `value(j after k: ...)` for a carried state."""
    condition, *rest = args if kind == "trips" else args[2:]
    first = ", ".join(
        f"{state} = {value}" for state, value in zip(rest[::3], rest[1::3], strict=True)
    )
    then = ", ".join(
        f"{state} = {value}" for state, value in zip(rest[::3], rest[2::3], strict=True)
    )
    loop = f"{first}; {condition}; {then}"
    return f"count({loop})" if kind == "trips" else f"value({args[1]} after {args[0]}: {loop})"


ZERO = Expr({})
ONE = Expr({(): 1})
