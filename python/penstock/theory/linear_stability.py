"""Linear systems with one delay: whether they are stable, and by how much.

Near an equilibrium every model of this package is

    x'(t) = A x(t) + B x(t - tau)                                                                       (*)

with the delay tau of the control loop: forward from the source to the queue and back. In all of them, one signal is fed
back: det(s I - A - B z) is linear in z = exp(-s tau). So the characteristic function is

    P(s) + Q(s) exp(-s tau),   P and Q polynomials, deg Q < deg P,

and the loop's transfer function is L(s) = Q(s) exp(-s tau) / P(s), closed with a minus sign.

Stability is decided exactly, not by reading a Bode plot: roots cross the imaginary axis at frequencies w where
|P(jw)| = |Q(jw)|, which do not depend on tau, in the direction of the sign of d(|P|^2 - |Q|^2)/dw^2, at delays that
follow one another at 2 pi / w (Cooke and van den Driessche, "On zeroes of some transcendental equations", Funkcialaj
Ekvacioj 29, 1986). The number of unstable roots at tau is the number without delay and those crossed until tau.

All functions work on whole arrays of systems: leading axes of the matrices are those of a map.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_SWEEPS = 60
"""Iterations of the simultaneous root finder: simple roots take about ten, double ones fifty."""

_SETTLED = 1e-13
"""A root that moves by a smaller share of it has been found."""

_REAL = 1e-6
"""A root whose imaginary part is so small a share of it counts as real."""

_LAPS = 8
"""How many laps of crossings from no delay on are searched for a stable one where arrays are compiled."""

_MOST_LAPS = 256
"""The same for NumPy, which goes as far as a stable one can be, and no further than that."""


@dataclass(frozen=True)
class DelaySystem:
    """x'(t) = A x(t) + B x(t - tau), or an array of such systems.

    Attributes:
        instant: A, shape (..., n, n), 1/s. States may be scaled; it helps if they are of one order.
        delayed: B, shape (..., n, n), 1/s, such that det(s I - A - B z) is linear in z.
        delay_s: tau, shape (...), s.
        states: names of the n states.
    """

    instant: Array
    delayed: Array
    delay_s: Array | float
    states: tuple[str, ...] = ()

    def characteristic(self, s: complex | Array) -> Array:
        """det(s I - A - B exp(-s tau)), 1/s^n, for one system; ``s`` in rad/s may be an array of any shape."""
        z = np.asarray(s, dtype=complex)[..., None, None]
        n = self.instant.shape[-1]
        return cast(Array, np.linalg.det(z * np.eye(n) - self.instant - self.delayed * np.exp(-z * self.delay_s)))

    def loop(self, s: complex | Array) -> Array:
        """L(s): the signal that comes back of one sent round the loop, with opposite sign; ``s`` in rad/s; one system.

        It is (characteristic - P) / P, where P leaves out what is delayed.
        """
        z = np.asarray(s, dtype=complex)[..., None, None]
        n = self.instant.shape[-1]
        return cast(Array, self.characteristic(s) / np.linalg.det(z * np.eye(n) - self.instant) - 1)


@dataclass(frozen=True)
class Margins:
    """How far systems are from the border of stability; arrays of the shape of the systems.

    Attributes:
        stable: whether every root of the characteristic function has a negative real part.
        phase_rad: the lag that a stable loop can bear; of an unstable one less than 0: the lead that it lacks, more
            than a turn where several pairs of roots have to come back. Infinite where no phase makes a difference.
        delay_s: the same in delay: how much more it can be, or how much less it would have to be. Minus infinity where
            no delay is short enough.
        crossing_rad_s: the frequency at which phase_rad was found, where the loop's gain is 1; NaN where there is none.
    """

    stable: Array
    phase_rad: Array
    delay_s: Array
    crossing_rad_s: Array


def polynomials(system: DelaySystem, xp: Any = np) -> tuple[Array, Array]:
    """P and Q of the characteristic function P(s) + Q(s) exp(-s tau).

    Returns:
        Coefficients of rising powers of s, shape (..., n + 1) each, that of s^k in 1/s^(n - k).
    """
    without = _characteristic_polynomial(system.instant, xp)
    return without, _characteristic_polynomial(system.instant + system.delayed, xp) - without


def margins(system: DelaySystem, xp: Any = np) -> Margins:
    """Stability, phase margin and delay margin of systems.

    Args:
        system: one system or an array of them.
        xp: NumPy, or ``jax.numpy`` with 64-bit floats.
    """
    # In units of time in which rates are around 1, powers of s neither vanish nor overflow.
    speed = xp.sqrt(
        xp.sum(xp.abs(system.instant) ** 2, axis=(-2, -1)) + xp.sum(xp.abs(system.delayed) ** 2, axis=(-2, -1))
    )
    speed = xp.where(speed > 0, speed, 1.0)
    scaled = DelaySystem(system.instant / speed[..., None, None], system.delayed / speed[..., None, None], 0.0)
    found = loop_margins(*polynomials(scaled, xp), system.delay_s * speed, xp)
    return Margins(found.stable, found.phase_rad, found.delay_s / speed, found.crossing_rad_s * speed)


def loop_margins(p: Array, q: Array, tau: Array | float, xp: Any = np) -> Margins:
    """Margins of P(s) + Q(s) exp(-s tau), in any unit of time.

    Args:
        p: coefficients of rising powers, shape (..., n + 1), the last of them 1.
        q: the same, the last of them 0.
        tau: shape (...).
        xp: NumPy, or ``jax.numpy`` with 64-bit floats.
    """
    late = xp.asarray(tau) + xp.zeros(p.shape[:-1])
    w, rightward = _crossings(p, q, xp)
    at_rest = xp.sum(roots(p + q, xp).real > 0, axis=-1)

    # The delay at which a crossing is on the axis: exp(-jw tau) = -P/Q, for the first time in [0, 2 pi / w).
    there = rightward != 0
    jw = 1j * w
    turn = 2 * np.pi
    phase = xp.angle(-_at(q, jw, xp) / xp.where(there, _at(p, jw, xp), 1.0))
    first = xp.where(there, xp.mod(phase, turn) / xp.where(there, w, 1.0), 0.0)
    lap = xp.where(there, turn / xp.where(there, w, 1.0), 1.0)

    def unstable(delay: Array) -> Array:
        """Number of unstable roots at each delay of shape (..., m)."""
        passed = xp.floor((delay[..., None] - first[..., None, :]) / lap[..., None, :]) + 1
        crossed = xp.where(there[..., None, :], xp.maximum(passed, 0), 0) * rightward[..., None, :]
        return cast(Array, at_rest[..., None] + 2 * xp.sum(crossed, axis=-1))

    stable = unstable(late[..., None])[..., 0] < 0.5

    # Of stable ones: the next root to the right. Delay adds the phase that a loop lacks at w, w tau.
    ahead = xp.mod(first - late[..., None], lap)
    outward = rightward > 0
    next_delay = xp.where(outward, ahead, xp.inf)
    next_phase = xp.where(outward, ahead * w, xp.inf)

    # Of unstable ones: the last delay before tau at which all roots are on the left. Crossings are counted from no
    # delay on: beyond a delay more have gone to the right than can ever come back.
    laps = xp.arange(_laps(first, lap, w, rightward, xp))
    crossed_at = first[..., None] + lap[..., None] * laps
    shape = (*crossed_at.shape[:-2], crossed_at.shape[-2] * crossed_at.shape[-1])
    earlier = outward[..., None] & (crossed_at <= late[..., None, None])
    crossed_at = xp.where(earlier, crossed_at, -xp.inf).reshape(shape)
    was_stable = unstable(xp.where(crossed_at > -xp.inf, crossed_at, 0.0) * (1 - 1e-9)) < 0.5
    last_delay = xp.max(xp.where(was_stable, crossed_at, -xp.inf), axis=-1)
    phase_lacking, lacks_at = _lead(unstable(late[..., None])[..., 0], (lap - ahead) * w, rightward, xp)

    # Where no lead alone does as much as less delay, the lead is the lag of that delay at the crossing that it undoes.
    delay_at = xp.argmax(xp.where(was_stable, crossed_at, -xp.inf), axis=-1) // len(laps)
    lag = (late - last_delay) * xp.take_along_axis(w, delay_at[..., None], axis=-1)[..., 0]
    by_delay = xp.isinf(phase_lacking)
    phase_rad = xp.where(stable, xp.min(next_phase, axis=-1), -xp.where(by_delay, lag, phase_lacking))
    at = xp.where(stable, xp.argmin(next_phase, axis=-1), xp.where(by_delay, delay_at, lacks_at))
    crossing = xp.take_along_axis(xp.where(outward, w, xp.nan), at[..., None], axis=-1)[..., 0]
    delay = xp.where(stable, xp.min(next_delay, axis=-1), last_delay - late)
    return Margins(stable, phase_rad, delay, crossing)


def _lead(unstable: Array, leads: Array, rightward: Array, xp: Any) -> tuple[Array, Array]:
    """The least lead that brings all roots back, rad, infinite if none does; and the number of the crossing it is at.

    A lead takes back a pair at each crossing outwards, and adds one at each inwards: ``leads`` (..., m) until it does
    so for the first time, and then once a turn.
    """
    turn, pairs = 2 * np.pi, unstable / 2
    outward = xp.sum(rightward > 0, axis=-1)
    gain = xp.sum(rightward, axis=-1)
    # This number of whole turns has to pass before the crossings of one more can be enough.
    before = xp.where(gain > 0, xp.maximum(xp.ceil((pairs - outward) / xp.where(gain > 0, gain, 1)), 0), 0)
    turns = before[..., None, None] + xp.arange(leads.shape[-1] + 1)
    enough = leads[..., None] + turn * turns
    passed = xp.floor((enough[..., None] * (1 + 1e-12) - leads[..., None, None, :]) / turn) + 1
    back = xp.sum(xp.maximum(passed, 0) * rightward[..., None, None, :], axis=-1)
    found = (rightward > 0)[..., None] & (back >= pairs[..., None, None] - 0.25)
    least = xp.min(xp.where(found, enough, xp.inf), axis=-1)
    return xp.min(least, axis=-1), xp.argmin(least, axis=-1)


def _laps(first: Array, lap: Array, w: Array, rightward: Array, xp: Any) -> int:
    """How many laps of crossings outwards there are before the last delay that can be stable."""
    if xp is not np:
        # Compiled, the number cannot depend on values.
        return _LAPS
    # (tau - first)/lap of them have passed by tau outwards, and at most one more inwards.
    speed = np.sum(rightward * w, axis=-1)
    ahead = np.sum(rightward * first / lap, axis=-1) + np.sum(rightward < 0, axis=-1)
    longest = np.where(speed > 0, 2 * np.pi * ahead / np.where(speed > 0, speed, 1.0), 0.0)
    most = np.max(np.where(rightward > 0, (longest[..., None] - first) / lap, 0.0), initial=0.0)
    return int(np.clip(np.ceil(most) + 1, 1, _MOST_LAPS))


def stable_delays_s(system: DelaySystem) -> tuple[tuple[float, float], ...]:
    """The intervals of delay in which one system is stable, s, in rising order; the last may end in infinity."""
    scale = float(np.sqrt(np.sum(np.abs(system.instant) ** 2) + np.sum(np.abs(system.delayed) ** 2))) or 1.0
    p, q = polynomials(DelaySystem(system.instant / scale, system.delayed / scale, 0.0))
    w, rightward = _crossings(p, q, np)
    there = rightward != 0
    w, rightward = w[there], rightward[there]
    first = np.mod(np.angle(-_at(q, 1j * w, np) / _at(p, 1j * w, np)), 2 * np.pi) / w
    lap = 2 * np.pi / w
    laps = _laps(first, lap, w, rightward, np) + 1
    borders = np.unique(np.concatenate([[0.0], (first[:, None] + lap[:, None] * np.arange(laps)).ravel()]))
    if len(w):
        # Behind that other crossings would have to be counted, and nothing is stable.
        borders = borders[borders <= np.max(first + lap * (laps - 1))]
    middles = np.append((borders[1:] + borders[:-1]) / 2, borders[-1] + 1.0) / scale
    wide = DelaySystem(
        np.broadcast_to(system.instant, (len(middles), *system.instant.shape)),
        np.broadcast_to(system.delayed, (len(middles), *system.delayed.shape)),
        middles,
    )
    spans: list[tuple[float, float]] = []
    for start, stop, stable in zip(borders, [*borders[1:], np.inf], margins(wide).stable, strict=True):
        if not stable:
            continue
        if spans and spans[-1][1] == start / scale:
            spans[-1] = (spans[-1][0], stop / scale)
        else:
            spans.append((start / scale, stop / scale))
    return tuple(spans)


def roots(coefficients: Array, xp: Any = np) -> Array:
    """All roots of polynomials at once, by the Aberth-Ehrlich iteration: array arithmetic alone, for any backend.

    Args:
        coefficients: of rising powers, shape (..., n + 1); the last is not 0.
        xp: NumPy or ``jax.numpy``.

    Returns:
        Complex roots, shape (..., n), in no order.
    """
    monic = coefficients / coefficients[..., -1:]
    n = monic.shape[-1] - 1
    slope = monic[..., 1:] * xp.arange(1, n + 1)
    # All roots are within the sum of these (Fujiwara's bound is twice the largest).
    powers = 1.0 / xp.arange(n, 0, -1)
    radius = xp.max(xp.abs(monic[..., :-1]) ** powers, axis=-1)
    # Not symmetric to the real axis, or pairs would stay pairs.
    start = xp.exp(1j * (2 * np.pi * xp.arange(n) / n + 0.4))
    z = xp.where(radius > 0, radius, 1.0)[..., None] * start
    others = ~xp.eye(n, dtype=bool)
    tiny = 1e-300

    def step(z: Any) -> Any:
        value, derivative = _at(monic, z, xp), _at(slope, z, xp)
        newton = value / xp.where(xp.abs(derivative) > tiny, derivative, tiny)
        distance = xp.where(others, z[..., :, None] - z[..., None, :], 1.0)
        distance = xp.where(xp.abs(distance) > tiny, distance, tiny)
        push = xp.sum(xp.where(others, 1.0 / distance, 0.0), axis=-1)
        return newton / (1 - newton * push)

    if xp is not np:
        # A compiled loop: unrolled, it would take minutes to compile. It cannot stop early.
        import jax

        return cast(Array, jax.lax.fori_loop(0, _SWEEPS, lambda _, z: z - step(z), z))
    for _ in range(_SWEEPS):
        moved = step(z)
        z = z - moved
        if np.all(np.abs(moved) <= _SETTLED * (np.abs(z) + radius[..., None] * _SETTLED)):
            break
    return cast(Array, z)


def rightmost_roots(system: DelaySystem, count: int = 6, points: int = 48) -> Array:
    """The rightmost roots of one system's characteristic function, rad/s, the rightmost first.

    The generator of the system's time shift is discretised at Chebyshev points of the last tau (Breda, Maset and
    Vermiglio, "Pseudospectral differencing methods for characteristic roots of delay differential equations", SIAM J.
    Sci. Comput. 27, 2005); its eigenvalues are then polished by Newton's method on the characteristic function.
    """
    n = system.instant.shape[-1]
    tau = float(np.asarray(system.delay_s))
    if tau == 0:
        values = np.linalg.eigvals(system.instant + system.delayed)
        return values[np.argsort(-values.real)][:count]
    differences = _chebyshev(points)
    generator = np.kron(differences * 2 / tau, np.eye(n))
    # The first node is the present, the last the past.
    generator[:n] = 0
    generator[:n, :n] = system.instant
    generator[:n, -n:] = system.delayed
    values = np.linalg.eigvals(generator)
    values = values[np.argsort(-values.real)][:count]
    return np.array([_polished(system, value) for value in values])


def _polished(system: DelaySystem, s: complex) -> complex:
    """A root near ``s``: Newton's method on the characteristic function, or ``s`` where that leads elsewhere."""
    start = s
    n, tau = system.instant.shape[-1], float(np.asarray(system.delay_s))
    for _ in range(8):
        decay = np.exp(-s * tau)
        matrix = s * np.eye(n) - system.instant - system.delayed * decay
        # det' / det = trace(M^-1 M').
        try:
            ratio = np.trace(np.linalg.solve(matrix, np.eye(n) + tau * system.delayed * decay))
        except np.linalg.LinAlgError:
            break
        if ratio == 0 or not np.isfinite(ratio):
            break
        s = complex(s - 1 / ratio)
    return s if abs(s - start) <= 1e-2 * (abs(start) + 1 / tau) else start


def _chebyshev(points: int) -> Array:
    """The matrix that takes values at Chebyshev's extremal points, from 1 to -1, to derivatives there."""
    k = np.arange(points + 1)
    nodes = np.cos(np.pi * k / points)
    weights = np.where((k == 0) | (k == points), 2.0, 1.0) * (-1.0) ** k
    distance = nodes[:, None] - nodes[None, :] + np.eye(points + 1)
    matrix = weights[:, None] / weights[None, :] / distance
    matrix -= np.diag(matrix.sum(axis=1))
    return cast(Array, matrix)


def _characteristic_polynomial(matrix: Array, xp: Any) -> Array:
    """det(s I - matrix), coefficients of rising powers: the method of Faddeev and Le Verrier."""
    n = matrix.shape[-1]
    eye = xp.eye(n)
    coefficients = [xp.ones(matrix.shape[:-2])]
    step = xp.zeros(matrix.shape) + eye
    for k in range(1, n + 1):
        product = matrix @ step
        coefficient = -xp.trace(product, axis1=-2, axis2=-1) / k
        coefficients.append(coefficient)
        step = product + coefficient[..., None, None] * eye
    return cast(Array, xp.stack(coefficients[::-1], axis=-1))


def _crossings(p: Array, q: Array, xp: Any) -> tuple[Array, Array]:
    """Frequencies w > 0 where |P(jw)| = |Q(jw)|, and the sign of d(|P|^2 - |Q|^2)/dw^2, 0 where there is none."""
    difference = _squared_modulus(p, xp) - _squared_modulus(q, xp)
    squares = roots(difference, xp)
    there = (squares.real > 0) & (xp.abs(squares.imag) <= _REAL * xp.abs(squares))
    square = xp.where(there, squares.real, 1.0)
    slope = _at(difference[..., 1:] * xp.arange(1, difference.shape[-1]), square, xp)
    return xp.sqrt(square), xp.where(there, xp.sign(slope), 0.0)


def _squared_modulus(polynomial: Array, xp: Any) -> Array:
    """|P(jw)|^2 as a polynomial in w^2: shape (..., n + 1)."""
    n = polynomial.shape[-1] - 1
    terms = [xp.zeros(polynomial.shape[:-1]) for _ in range(n + 1)]
    for i in range(n + 1):
        for k in range(n + 1):
            # (jw)^i times the conjugate of (jw)^k is j^(i - k) w^(i + k): real where i + k is even.
            if (i + k) % 2 == 0:
                sign = 1 if (i - k) % 4 == 0 else -1
                terms[(i + k) // 2] = terms[(i + k) // 2] + sign * polynomial[..., i] * polynomial[..., k]
    return cast(Array, xp.stack(terms, axis=-1))


def _at(polynomial: Array, z: Array, xp: Any) -> Array:
    """Values of polynomials (..., n + 1) at points (..., m)."""
    value = xp.zeros_like(z)
    for k in range(polynomial.shape[-1] - 1, -1, -1):
        value = value * z + polynomial[..., k : k + 1]
    return cast(Array, value)
