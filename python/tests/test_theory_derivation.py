"""Theorems 1 to 3 of Jiang et al. 2015 follow from its equations of motion; a changed sign in any of them is found."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from theorem_derivation import derive

from penstock.theory import jiang2015, theorems

# The kinds of a changed sign: of a sum, of a number, of an inequality; and a product that became a quotient.
_OTHER: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.USub: ast.UAdd,
}


def test_each_step_follows_from_those_before() -> None:
    """From (12) to (18) and (25) to (27) come (19) to (24), (30) and the theorems as this package states them."""
    steps = list(derive())
    wrong = [f"{step.equation}: derived {step.derived}, stated {step.stated}" for step in steps if not step.holds]
    assert not wrong
    equations = {step.equation for step in steps}
    assert {"theorem 1", "(17)", "(18)", "(19)", "(20)", "(22)", "(23)", "(24)", "(26)", "(27)"} <= equations
    assert sum(equation.startswith("(29)") for equation in equations) == 4


def _signs(module: ModuleType) -> list[tuple[str, int]]:
    """Return every sign of a module's functions: its text, and its number in the file."""
    return [(ast.unparse(node), number) for number, node in enumerate(_nodes(_tree(module)))]


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))


def _nodes(tree: ast.Module) -> Iterator[ast.AST]:
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                signed = isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in _OTHER
                if signed or isinstance(node, ast.Compare):
                    yield node


def _altered(module: ModuleType, number: int) -> ModuleType:
    """Return the module with one sign turned."""
    tree = _tree(module)
    node = list(_nodes(tree))[number]
    if isinstance(node, ast.Compare):
        node.ops = [_OTHER[type(op)]() for op in node.ops]
    elif isinstance(node, ast.BinOp | ast.UnaryOp):
        node.op = _OTHER[type(node.op)]()
    altered = ModuleType(module.__name__)
    exec(compile(ast.fix_missing_locations(tree), "<altered>", "exec"), altered.__dict__)
    return altered


def _found(module: ModuleType, number: int) -> bool:
    altered = _altered(module, number)
    given = {"laws": altered} if module is jiang2015 else {"theorems": altered}
    try:
        return any(not step.holds for step in derive(**given))
    except TypeError as error:
        # SymPy's word for an inequality that has become one between infinities.
        return "non-real" in str(error)


@pytest.mark.parametrize(("sign", "number"), _signs(theorems))
def test_a_changed_sign_in_a_theorem_is_found(sign: str, number: int) -> None:
    """No sign of a theorem can be turned without a step of the derivation failing."""
    assert _found(theorems, number), f"sign {number} of theorems.py turned, in {sign}"


@pytest.mark.parametrize(("sign", "number"), _signs(jiang2015))
def test_a_changed_sign_in_an_equation_of_motion_is_found(sign: str, number: int) -> None:
    """Neither can a sign of (5), (10), (12) to (18), (26) or (27)."""
    assert _found(jiang2015, number), f"sign {number} of jiang2015.py turned, in {sign}"
