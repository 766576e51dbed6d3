"""Derives equations (17) to (24) and (30) of Jiang et al. 2015 with SymPy, and checks the formulas of the package.

Each :class:`Step` is a statement of the paper beside what follows from the equations before it. The statements are the
functions of :mod:`penstock.theory.theorems` and :mod:`penstock.theory.jiang2015` themselves, called with symbols. A
sign that is wrong in one of them makes a step fail, and a test turns every one of them in turn to see that it does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import sympy as sp

from penstock.theory import jiang2015 as written_laws
from penstock.theory import theorems as written_theorems

x, y = sp.symbols("x y", real=True)
C, N, w, p, T, Gd = sp.symbols("C N w p T G_d", positive=True)
excess = sp.Symbol("E", real=True)
a1, a2, b2 = sp.symbols("a_1 a_2 b_2", positive=True)
b1 = sp.Symbol("b_1", real=True)


@dataclass(frozen=True)
class Step:
    """One line of the derivation.

    Attributes:
        equation: number or name in the paper.
        says: the statement, as text.
        derived: the result of the equations before it, a SymPy expression or several.
        stated: the same as this package states it.
        holds: whether they are the same.
    """

    equation: str
    says: str
    derived: Any
    stated: Any
    holds: bool


def derive(laws: ModuleType = written_laws, theorems: ModuleType = written_theorems) -> Iterator[Step]:
    """Derive the theorems and compare them with what ``laws`` and ``theorems`` state.

    The modules are arguments so that a test can hand in altered ones.

    Yields:
        The steps in the paper's order: theorem 1, (5) to (10), (14), (17) to (24), theorem 2, (26) to (30), remark 2.
    """
    yield from _theorem_1(theorems)
    yield from _pictures(laws)
    yield from _qcn(laws, theorems)
    yield from _smcc(laws, theorems)


def _same(equation: str, says: str, derived: Any, stated: Any) -> Step:
    """Compare expressions, or tuples of them."""
    pairs = zip(derived, stated, strict=True) if isinstance(derived, tuple) else [(derived, stated)]
    holds = all(_nothing(sp.sympify(one) - other) for one, other in pairs)
    return Step(equation, says, derived, stated, holds)


def _nothing(expression: Any) -> bool:
    # To expand is enough for most, and takes a tenth of the time.
    return bool(sp.expand(expression) == 0 or sp.simplify(expression) == 0)


def _alike(equation: str, says: str, derived: Any, stated: Any) -> Step:
    """Compare conditions on reals, or tuples of them: each the same relation of the same expression to 0."""
    pairs = zip(derived, stated, strict=True) if isinstance(derived, tuple) else [(derived, stated)]
    return Step(equation, says, derived, stated, all(_equivalent(one, other) for one, other in pairs))


def _equivalent(one: Any, other: Any) -> bool:
    # An inequality without symbols is True or False by itself.
    if not (isinstance(one, sp.core.relational.Relational) and isinstance(other, sp.core.relational.Relational)):
        return bool(one == other)
    one, other = _to_zero(one), _to_zero(other)
    if one.func is not other.func:
        return False
    quotient = sp.simplify(one.lhs / other.lhs)
    # The symbols are positive where the paper's are, so that a factor has a definite sign or none.
    return bool(quotient.is_positive)


def _to_zero(relation: Any) -> Any:
    """Write an inequality as expression < 0 or expression <= 0."""
    difference = sp.expand(relation.gts - relation.lts)
    kind = sp.StrictLessThan if relation.func in (sp.StrictLessThan, sp.StrictGreaterThan) else sp.LessThan
    return kind(-difference, 0, evaluate=False)


def _theorem_1(theorems: ModuleType) -> Iterator[Step]:
    m = sp.Symbol("m", real=True)
    u, v = sp.symbols("u v", real=True)
    yield _same("(11)", "the switching line is where u + m v = 0", u + m * v, theorems.line(u, v, m))
    s_dot = sp.Symbol("s'", real=True)
    positive, negative = sp.Symbol("s_+", positive=True), sp.Symbol("s_-", negative=True)
    # s s' <= 0 divided by s, whose sign is known on either side.
    above = _divided(sp.Le(positive * s_dot, 0, evaluate=False), positive)
    below = _divided(sp.Le(negative * s_dot, 0, evaluate=False), negative)
    stated = theorems.slides(s_dot, s_dot)
    yield _alike("theorem 1", "s s' <= 0 on both sides of the line", (above, below), stated)


def _divided(relation: Any, by: Any) -> Any:
    """Divide expression <= 0 by a symbol whose sign is known."""
    kind = sp.Le if by.is_positive else sp.Ge
    return kind(relation.lhs / by, 0, evaluate=False)


def _rational(expression: Any) -> Any:
    """Write the floats of an expression as fractions: exponents of 0.5 as roots."""
    return sp.nsimplify(expression, rational=True)


def _pictures(laws: ModuleType) -> Iterator[Step]:
    """Equations (5) to (10), which figures 2 and 3 draw."""
    a, b, z, t, amplitude, c = sp.symbols("a b z t A c", real=True)
    g, h = sp.symbols("g h", positive=True)
    field = sp.Matrix(laws.oscillator(x, y, a, b))
    characteristic = (z * sp.eye(2) - field.jacobian([x, y])).det()
    yield _same("(6)", "characteristic equation of (5)", characteristic, z**2 + a * z + b)
    alpha, beta = -a / 2, sp.sqrt(4 * b - a**2) / 2
    u = amplitude * sp.exp(alpha * t) * sp.cos(beta * t + c)
    v = sp.diff(u, t)
    motion = laws.oscillator(u, v, a, b)
    yield _same("(8)", "u = A exp(alpha t) cos(beta t + c) solves (5)", (v, sp.diff(v, t)), motion)
    angle = beta * t + c
    spiral = sp.expand((v - alpha * u) ** 2 + beta**2 * u**2).subs(sp.sin(angle) ** 2, 1 - sp.cos(angle) ** 2)
    yield _same("(9)", "the trajectory is a spiral", spiral, (amplitude * beta) ** 2 * sp.exp(2 * alpha * t))
    # v = g/h + (v0 - g/h) exp(-h t), and u its integral.
    v0 = sp.Symbol("v_0", real=True)
    climbing = g / h + (v0 - g / h) * sp.exp(-h * t)
    motion = laws.climber(climbing, g, h)
    yield _same("(10)", "v goes to g/h at the rate h", (climbing, sp.diff(climbing, t)), motion)
    # Not a hyperbola, as the paper has it: a line and a logarithm, which nears v = g/h on one side alone.
    along = sp.Matrix(laws.climber(y, g, h)).dot(
        sp.Matrix([sp.diff(x + y / h + g / h**2 * sp.log(g / h - y), variable) for variable in (x, y)])
    )
    yield _same("figure 3", "along (10), u + v/h + g/h² ln(g/h - v) stays", sp.Integer(0), along)


def _qcn(laws: ModuleType, theorems: ModuleType) -> Iterator[Step]:
    q, q0, r, target, z = sp.symbols("q q_0 r R_0 z", real=True)
    k = w / (p * C)
    growth = laws.growth(r, N, C)
    # (13): p C samples a second.
    fb = laws.feedback(q - q0, growth / (p * C), w)
    yield _same("(14)", "Fb with (12) and (13)", -(q - q0) - k * (N * r - C), fb)

    # (16): q = x + q0, r = (y + C)/N, R0 = (E + C)/N; x' = q', y' = N r'.
    to_plane = {q: x + q0, r: (y + C) / N, target: (excess + C) / N}
    falling = (growth, N * laws.decrease(fb, r, Gd))
    rising = (growth, N * laws.recovery(r, target, T))
    falling, rising = (tuple(sp.sympify(part).subs(to_plane) for part in law) for law in (falling, rising))
    stated_falling, stated_rising = laws.qcn_decrease(x, y, k, Gd, C), laws.qcn_recovery(y, T, excess)
    yield _same("(17)", "rate decrease in x and y", falling, stated_falling)
    yield _same("(18)", "Fast Recovery in x and y", rising, stated_rising)

    jacobian = sp.Matrix(falling).jacobian([x, y]).subs({x: 0, y: 0})
    linear = tuple(jacobian * sp.Matrix([x, y]))
    yield _same("(19)", "(17) linearised at the origin", linear, (y, -Gd * C * x - Gd * w / p * y))
    characteristic = sp.expand((z * sp.eye(2) - jacobian).det())
    yield _same("(20)", "its characteristic equation", characteristic, z**2 + Gd * w / p * z + Gd * C)
    # Complex roots: a² < 4 b. Both sides are positive: the root of their quotient is below 1.
    coefficients = sp.Poly(characteristic, z).all_coeffs()
    ratio = sp.sqrt(coefficients[1] ** 2 / (4 * coefficients[2]))
    measure = _rational(theorems.spiral(Gd, C, k))
    printed = sp.sqrt(Gd / (4 * C)) * w / p
    yield _same("spiral", "sqrt(Gd/(4C)) w/p, from the discriminant of (20)", (ratio, printed), (measure, measure))

    # Fb' = -x' - k y' along each law, on the line y = -x/k that Fb = 0 is.
    plane_fb = sp.sympify(fb).subs(to_plane)
    on_line = {y: sp.solve(plane_fb, y)[0]}
    gradient = [sp.diff(plane_fb, variable) for variable in (x, y)]

    def rate(law: tuple[Any, ...]) -> Any:
        return sum(slope * part for slope, part in zip(gradient, law, strict=True)).subs(on_line)

    decreasing, recovering = feedback_rates(x, k, T, excess)
    # The limit is the same for (17) as for (19): on the line the product in (17) is 0.
    yield _same("(22)", "Fb' towards the line in rate decrease", (rate(falling), rate(linear)), (decreasing,) * 2)
    yield _same("(23)", "Fb' towards the line in Fast Recovery", rate(rising), recovering)
    # With (21) and theorem 1, where s = Fb: Fb' <= 0 from above, Fb' >= 0 from below.
    above, below = theorems.slides(rate(rising), rate(linear))
    near, round_, right_of_target = theorems.theorem_2(x, k, T, excess, Gd, C)
    yield _alike("(24)", "(23) at most 0", above, near)
    yield _alike("theorem 2, item 2", "the spiral's measure is below 1", sp.Lt(ratio, 1), _rational(round_))
    # Fb' >= 0 says x >= 0; the paper leaves the origin itself out.
    yield _alike("theorem 2, item 3", "(22) above 0", _strictly(below), right_of_target)


def feedback_rates(offset_frames: Any, weight_s: Any, cycle_s: Any, excess_fps: Any) -> tuple[Any, Any]:
    """The limits of Fb' at the switching line, frames/s, from the rate decrease (22) and from Fast Recovery (23)."""
    recovering = (1 / weight_s - 1 / (2 * cycle_s)) * offset_frames - weight_s * excess_fps / (2 * cycle_s)
    return offset_frames / weight_s, recovering


def _smcc(laws: ModuleType, theorems: ModuleType) -> Iterator[Step]:
    alpha, beta = sp.symbols("alpha beta", positive=True)
    # (25) per message and, as (15) is printed, per unit of time: y' = N r'.
    growth = y / (p * C)
    paper = {a1: N * alpha, a2: 0, b1: 0, b2: N * beta / (p * C)}
    same, opposite = laws.smcc_same_sign(x, y, a1, a2), laws.smcc_opposite_sign(x, y, b1, b2)
    chosen_a, chosen_b = (tuple(sp.sympify(part).subs(paper) for part in law) for law in (same, opposite))
    yield _same("(26)", "(25) in state A, with a1 = N alpha and a2 = 0", (y, -N * alpha * x), chosen_a)
    yield _same("(27)", "(25) in state B, with b1 = 0 and b2 = N beta/(pC)", (y, -N * beta * growth), chosen_b)

    # (28): y' <= 0 from above and y' >= 0 from below, on both sides of the target; m is the distance from it. State A
    # is above and right, below and left; b1 is free, and so is a1 here.
    m = sp.Symbol("m", positive=True)
    free = sp.Symbol("a", real=True)

    def towards(law: tuple[Any, ...], offset: Any, *, above: bool) -> Any:
        rate = sp.sympify(law[1]).subs({a1: free, y: 0, x: offset})
        return theorems.slides(rate, sp.Integer(0))[0] if above else theorems.slides(sp.Integer(0), rate)[1]

    first, second = theorems.theorem_3(free, b1)
    right = towards(same, m, above=True), towards(opposite, m, above=False)
    left = towards(same, -m, above=False), towards(opposite, -m, above=True)
    yield _alike("(29), line 1", "from above on the right, y' < 0 needs a1 > 0", _strictly(right[0]), first)
    yield _alike("(29), line 2", "from above on the left, y' <= 0 needs b1 <= 0", left[1], second)
    yield _alike("(29), line 3", "from below on the left, y' > 0 needs a1 > 0", _strictly(left[0]), first)
    yield _alike("(29), line 4", "from below on the right, y' >= 0 needs b1 <= 0", right[1], second)
    # The paper does not say that both laws leave x alone on y = 0, so that a slide along it goes nowhere.
    still = tuple(sp.sympify(law[0]).subs(y, 0) for law in (same, opposite))
    yield _same("slide on y = 0", "the queue stands still: x' = 0", (sp.Integer(0),) * 2, still)

    # On y = g x the motion stays if y' = g x'.
    z = sp.Symbol("z")
    spirals, hyperbolas = (_on_ray(law, z) for law in (same, opposite))
    yield _same("remark 2, a2", "state A spirals as the roots of z² + a2 z + a1", spirals, z**2 + a2 * z + a1)
    yield _same("remark 2, b1", "asymptotes' slopes are the roots of z² + b2 z + b1", hyperbolas, z**2 + b2 * z + b1)
    low, high = (_rational(root) for root in theorems.asymptotes(b1, b2))
    apart = sp.sqrt(b2**2 - 4 * b1)
    yield _same("remark 2, roots", "the lower first", (-b2, b1, apart), (low + high, low * high, high - low))


def _on_ray(law: tuple[Any, ...], slope: Any) -> Any:
    """Return (g x' - y')/x on the ray y = g x, whose zeros are the slopes of the rays that the motion keeps to."""
    motion = [sp.sympify(part).subs(y, slope * x) for part in law]
    return sp.expand((slope * motion[0] - motion[1]) / x)


def _strictly(relation: Any) -> Any:
    """Return a weak inequality as a strict one."""
    return sp.Gt(relation.gts, relation.lts, evaluate=False)
