"""Integers of compiled code that do not fit into 64 bits raise OverflowError.

Python's integers have no bound; integers of machine code wrap. :class:`Checked` replaces operators by calls of
stand-ins. numba compiles a stand-in with an overflow check if the operands are integers, otherwise without. Unsigned
integers, which only numpy has, wrap.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["STAND_INS", "Checked", "teach"]

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.LShift: "lshift",
    ast.Pow: "power",
    ast.USub: "neg",
}
_CALLS: dict[Any, str] = {
    int: "int",
    round: "round",
    abs: "abs",
    math.floor: "floor",
    math.ceil: "ceil",
    math.trunc: "trunc",
}
_PREFIX = "__lightlag_"


def _field(value: Any) -> Any:
    """Returns the value of a field for whole numbers, unchanged."""
    return value


_PYTHON: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name, operator.pow) for name in _OPERATORS.values()},
    **{name: function for function, name in _CALLS.items()},
    "field": _field,
}


def _stand_in(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    # Called by code that numba leaves to the interpreter.
    def stand_in(*arguments: Any) -> Any:
        return function(*arguments)

    stand_in.__name__ = stand_in.__qualname__ = _PREFIX + name
    return stand_in


STAND_INS = {_PREFIX + name: _stand_in(name, function) for name, function in _PYTHON.items()}
"""Functions that a checked method calls, by their names in it."""


class Checked(ast.NodeTransformer):
    """Replaces operators and conversions by calls of :data:`STAND_INS`."""

    def __init__(self, names: Mapping[str, Any], record: str, wholes: frozenset[str] = frozenset()) -> None:
        """`names` are the globals of the function. The fields `wholes` of its argument `record` hold whole numbers."""
        self._names = names
        self._record = record
        self._wholes = wholes

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replaces ``a + b``, unless both are constants."""
        self.generic_visit(node)
        is_constant = isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)
        return node if is_constant else self._operator(node.op, node, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Replaces ``-a``, unless it is a constant."""
        self.generic_visit(node)
        return node if isinstance(node.operand, ast.Constant) else self._operator(node.op, node, node.operand)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Replaces ``a += b`` by ``a = a + b``, unless reading `a` twice may have effects."""
        self.generic_visit(node)
        if type(node.op) not in _OPERATORS or any(isinstance(one, ast.Call) for one in ast.walk(node.target)):
            return node
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        value = self._operator(node.op, node, read, node.value)
        return self._stored(ast.copy_location(ast.Assign([node.target], value), node))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Checks values of fields that are whole numbers."""
        self.generic_visit(node)
        return self._stored(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replaces ``int(x)`` and the like."""
        self.generic_visit(node)
        name = _CALLS.get(self._called(node.func)) if len(node.args) == 1 and not node.keywords else None
        return node if name is None else self._call(name, node, *node.args)

    def _called(self, function: ast.expr) -> Any:
        if isinstance(function, ast.Name):
            return self._names.get(function.id, getattr(builtins, function.id, None))
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return getattr(math, function.attr, None) if self._names.get(function.value.id) is math else None
        return None

    def _stored(self, node: ast.Assign) -> ast.Assign:
        for target in node.targets:
            if self._is_whole(target):
                node.value = self._call("field", node.value, node.value)
        return node

    def _is_whole(self, target: ast.expr) -> bool:
        is_field = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
        return is_field and target.value.id == self._record and target.attr in self._wholes  # type: ignore[attr-defined]

    def _operator(self, kind: ast.AST, node: ast.AST, *arguments: ast.expr) -> Any:
        name = _OPERATORS.get(type(kind))
        return node if name is None else self._call(name, node, *arguments)

    def _call(self, name: str, node: ast.AST, *arguments: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Call(ast.Name(_PREFIX + name, ast.Load()), list(arguments), []), node)


def teach(nb: Any) -> None:
    """Lets numba compile :data:`STAND_INS`.

    The overloads have no annotations: numba compares their signatures, and would take annotations for a difference.
    """
    from numba.extending import overload

    def define(name: str, checked: Any, plain: Any) -> None:
        def typed(*kinds: Any) -> Any:
            return checked if all(_is_whole(nb, kind) for kind in kinds) else plain

        one, two = (lambda a: typed(a)), (lambda a, b: typed(a, b))
        checked.__annotations__.clear()
        overload(STAND_INS[_PREFIX + name])(two if checked.__code__.co_argcount == 2 else one)

    add, subtract, multiply = (_flagged(nb, name) for name in ("sadd", "ssub", "smul"))
    int64 = nb.int64

    def checked_by(operation: Any) -> Any:
        def checked(a: Any, b: Any) -> Any:
            value, is_wrong = operation(int64(a), int64(b))
            if is_wrong:
                raise OverflowError
            return value

        return checked

    define("add", checked_by(add), lambda a, b: a + b)
    define("sub", checked_by(subtract), lambda a, b: a - b)
    define("mul", checked_by(multiply), lambda a, b: a * b)

    least = -(2**63)

    def floordiv(a: Any, b: Any) -> Any:
        if b == -1 and a == least:
            raise OverflowError
        return a // b

    def lshift(a: Any, b: Any) -> Any:
        if b < 0 or (b > 63 and a != 0):
            raise OverflowError
        shifted = int64(a) << min(b, 63)
        if shifted >> min(b, 63) != a:
            raise OverflowError
        return shifted

    def power(a: Any, b: Any) -> Any:
        if b < 0:
            # Python returns a fraction.
            raise OverflowError
        value, base, left = int64(1), int64(a), int64(b)
        while left > 0:
            if left & 1:
                value, is_wrong = multiply(value, base)
                if is_wrong:
                    raise OverflowError
            left >>= 1
            if left > 0:
                base, is_wrong = multiply(base, base)
                if is_wrong:
                    raise OverflowError
        return value

    def negative(a: Any) -> Any:
        if a == least:
            raise OverflowError
        return -a

    def absolute(a: Any) -> Any:
        if a == least:
            raise OverflowError
        return abs(a)

    define("floordiv", floordiv, lambda a, b: a // b)
    define("lshift", lshift, lambda a, b: a << b)
    define("neg", negative, lambda a: -a)
    define("abs", absolute, lambda a: abs(a))
    _teach_power(nb, power)
    _teach_conversions(nb)


def _is_whole(nb: Any, kind: Any) -> bool:
    kind = getattr(kind, "literal_type", kind)
    return isinstance(kind, nb.types.Boolean) or (isinstance(kind, nb.types.Integer) and bool(kind.signed))


def _teach_power(nb: Any, checked: Any) -> None:
    from numba.extending import overload

    def power(a: Any, b: Any) -> Any:
        if _is_whole(nb, a) and _is_whole(nb, b):
            return checked
        if isinstance(b, nb.types.IntegerLiteral):
            # numba multiplies if the exponent is a constant, which rounds differently from a function.
            exponent = b.literal_value
            return lambda a, b: a**exponent
        return lambda a, b: a**b

    power.__annotations__.clear()
    checked.__annotations__.clear()
    overload(STAND_INS[_PREFIX + "power"], prefer_literal=True)(power)


def _teach_conversions(nb: Any) -> None:
    """Checks that numbers converted to integers fit, as in Python."""
    from numba.extending import overload

    conversions: dict[str, Any] = {
        "int": lambda a: int(a),
        "round": lambda a: round(a),
        "floor": lambda a: math.floor(a),
        "ceil": lambda a: math.ceil(a),
        "trunc": lambda a: math.trunc(a),
        "field": lambda a: a,
    }
    bound = 2.0**63

    def taught(name: str, plain: Any) -> None:
        convert = nb.njit(plain)

        def checked(a: Any) -> Any:
            # A number that is none fails both.
            if not -bound <= a < bound:
                raise OverflowError
            return convert(a)

        def typed(a: Any) -> Any:
            return checked if isinstance(a, nb.types.Float) else plain

        typed.__annotations__.clear()
        checked.__annotations__.clear()
        overload(STAND_INS[_PREFIX + name])(typed)

    for name, plain in conversions.items():
        taught(name, plain)


def _flagged(nb: Any, name: str) -> Any:
    """Returns an LLVM operation on 64-bit integers, which returns its result and whether that has overflowed."""
    from numba.extending import intrinsic

    pair = nb.types.Tuple((nb.int64, nb.boolean))

    def operation(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            both = getattr(builder, f"{name}_with_overflow")(*arguments)
            return context.make_tuple(builder, pair, [builder.extract_value(both, at) for at in range(2)])

        return pair(nb.int64, nb.int64), generate

    return intrinsic(operation)
