"""Priority flow control beside a scheme of rates: what pauses of the sources' links do to the loop.

A switch stops the link of a source as the octets that it holds for it reach XOFF, and lets it go on at XON. The limiter
goes on by its law meanwhile, and no frame comes. With q_i the octets of source i in the queue, d the time from a
threshold until arrivals change:

    q_i' = r_i (1 - held_i) - departures,    held_i = 1 from q_i(t - d) > XOFF until q_i(t - d) < XON

Octets leave in the order in which they came: the bursts between two pauses stand in the queue one after the other.

An equilibrium with q / N below XOFF is not touched: small oscillations meet no pause, and the margin is that without
flow control. Above it links are stopped in turn. Limiters rise to line rate, or until what comes between two pauses
brings the marks that the scheme needs. The sources are therefore integrated one by one, with steps of a part of d.
"""

from dataclasses import dataclass

import numpy as np

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.base import Array, FluidModel
from penstock.theory.models.delays import EndToEnd

_STEPS_PER_PAUSE = 10
_SCALES = 60.0
"""Time scales of the model that are integrated; the second half is measured."""

_SPREAD = 0.1
"""Spread of the sources' first rates: links that begin alike would be stopped together for ever."""

_TRICKLE = 1e-6
"""Share of a rate that a law sees from a source that is stopped: some laws divide by it."""


@dataclass(frozen=True)
class Pauses:
    """The motion of a fluid with flow control.

    Attributes:
        xoff_octets: the sum of all XOFF.
        delay_s: from a threshold until arrivals change, s.
        mean_octets: mean of the queue.
        std_octets: its standard deviation.
        rate_bps: mean rate of a source's limiter, bit/s.
        held_share: share of the time in which a source is stopped.
        utilization: share of the capacity that is used.
    """

    xoff_octets: float
    delay_s: float
    mean_octets: float
    std_octets: float
    rate_bps: float
    held_share: float
    utilization: float


def bind(configuration: Configuration, model: FluidModel) -> bool:
    """Whether the equilibrium of a scheme of rates lies above the thresholds of flow control."""
    if configuration.pause is None or isinstance(model, EndToEnd):
        return False
    return float(model.state_at_rest()[0]) >= configuration.pause.xoff_octets


def pauses(configuration: Configuration, model: FluidModel) -> Pauses:
    """Integrate a configuration of one delay with its flow control, from the start of its flows.

    Raises:
        UnsuitedScenarioError: the sources have windows.
    """
    pause, flows = configuration.pause, configuration.flows
    if pause is None:
        raise ValueError("the configuration has no flow control")
    if isinstance(model, EndToEnd):
        raise UnsuitedScenarioError(
            f"the sources of {model.scheme} have windows, and the model of pauses has rates",
            "take [pfc] out, or a scheme that limits rates",
        )
    # Lossless: the thresholds alone bound the queue.
    model = model.with_changes(buffer_octets=np.inf)
    delay_s = float(np.max(np.asarray(model.delays_s[0])))
    step_s = min(pause.delay_s, delay_s) / _STEPS_PER_PAUSE
    steps = int(_SCALES * max(model.time_scale_s, delay_s) / step_s)
    state = np.repeat(model.start().reshape(-1, 1), flows, axis=1)
    state[1] *= 1 - _SPREAD * np.arange(flows) / flows
    low, high = (side.reshape(-1, 1) for side in model.limits())
    # All that each source has sent up to each step; the queue is first in, first out.
    sent_octets = np.zeros((steps + 1, flows))
    total_octets, gone_octets, first = np.zeros(steps + 1), 0.0, 0
    parts, held = np.zeros(flows), np.zeros(flows, dtype=bool)
    back, late = max(1, round(delay_s / step_s)), max(1, round(pause.delay_s / step_s))
    thens = [state] * back
    waiting = [parts] * late
    drain = float(configuration.capacity_bps * model.octets_per_bit) * step_s
    queues, rates, stopped, used = (np.zeros(steps) for _ in range(4))
    each = np.array([pause.xoff_octets, pause.xon_octets]) / flows
    for k in range(steps):
        seen = waiting[k % late]
        held = (held | (seen > each[0])) & (seen >= each[1])
        sent = np.where(held, _TRICKLE, 1.0) * state[1]
        came = np.array([state[0], sent, *state[2:]])
        then, thens[k % back] = thens[k % back], came
        slope = _slope(model, state, then)
        sent_octets[k + 1] = sent_octets[k] + np.where(held, 0.0, state[1]) * float(model.octets_per_bit) * step_s
        total_octets[k + 1] = sent_octets[k + 1].sum()
        used[k] = min(drain, total_octets[k + 1] - gone_octets) / drain
        gone_octets += used[k] * drain
        while first < k and total_octets[first + 1] <= gone_octets:
            first += 1
        step = total_octets[first + 1] - total_octets[first]
        share = (gone_octets - total_octets[first]) / step if step > 0 else 1.0
        gone = sent_octets[first] + min(share, 1.0) * (sent_octets[first + 1] - sent_octets[first])
        parts = np.maximum(sent_octets[k + 1] - gone, 0.0)
        waiting[k % late] = parts
        state = np.clip(state + step_s * slope, low, high)
        state[0] = parts.sum()
        queues[k], rates[k], stopped[k] = state[0, 0], state[1].mean(), held.mean()
    half = slice(steps // 2, None)
    return Pauses(
        xoff_octets=pause.xoff_octets,
        delay_s=pause.delay_s,
        mean_octets=float(queues[half].mean()),
        std_octets=float(queues[half].std()),
        rate_bps=float(rates[half].mean()),
        held_share=float(stopped[half].mean()),
        utilization=float(used[half].mean()),
    )


def _slope(model: FluidModel, state: Array, then: Array) -> Array:
    """Return the law of each source, with the queue that all have in common."""
    modes = model.modes_at(state, (then,))
    first, *others = np.unique(modes).tolist()
    slope = model.law(first, state, (then,))
    for mode in others:
        slope = np.where(modes == mode, model.law(mode, state, (then,)), slope)
    return slope
