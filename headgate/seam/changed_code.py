"""Values that no call shows: a state function compiled again with one value or operator of its source changed."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

NAMES = {"max": "min", "min": "max", "any": "all", "all": "any", "sum": "max"}
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


@dataclass(frozen=True)
class CodeChange:
    """A function with one value or operator changed."""

    function: FunctionType
    line: int
    name: str
    shown: str
    code: CodeType

    def apply(self) -> None:
        """Let it be so from now on; each start of a program has functions of its own."""
        self.function.__code__ = self.code


def code_changes(function: Any, tree: ast.Module, node: ast.FunctionDef) -> Iterator[CodeChange]:
    """Each small substitution in the function, which is the node of the tree."""
    file = function.__code__.co_filename
    for number, each in enumerate(ast.walk(node)):
        for line, shown, change in _substitutions(each):
            changed = copy.deepcopy(tree)
            twin = _same(changed, node)
            change(list(ast.walk(twin))[number])
            code = _code_of(compile(changed, file, "exec"), function)
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                yield CodeChange(function, line, f"{shown} in {node.name}, column {_column(each)}", shown, code)


def _substitutions(node: ast.AST) -> Iterator[tuple[int, str, Any]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node.lineno, f"{node.value} -> {not node.value}", lambda twin: setattr(twin, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        more = node.value + 1
        yield node.lineno, f"{node.value} -> {more}", lambda twin: setattr(twin, "value", more)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
        name, other = node.func.id, NAMES[node.func.id]
        yield node.lineno, f"{name} -> {other}", lambda twin: setattr(twin.func, "id", other)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        first = OPERATORS[type(node.ops[0])]()
        yield node.lineno, _told(node.ops[0], first), lambda twin: twin.ops.__setitem__(0, first)
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OPERATORS:
        operator = OPERATORS[type(node.op)]()
        yield node.lineno, _told(node.op, operator), lambda twin: setattr(twin, "op", operator)


def _told(before: ast.AST, after: ast.AST) -> str:
    return f"{type(before).__name__} -> {type(after).__name__}"


def _column(node: ast.AST) -> int:
    return int(getattr(node, "col_offset", 0))


def _same(tree: ast.Module, node: ast.FunctionDef) -> ast.AST:
    return next(
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef) and (each.name, each.lineno) == (node.name, node.lineno)
    )


def _code_of(module: CodeType, function: Any) -> CodeType | None:
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == function.__code__.co_qualname:
                return constant
            inner = _code_of(constant, function)
            if inner is not None:
                return inner
    return None
