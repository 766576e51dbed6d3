"""The types of a scenario file, table by table, as :class:`penstock.Scenario` takes them.

Quantities are text with a unit. :func:`penstock.keys` and ``penstock schema`` explain each key.

Written by ``python tools/generate_types.py`` from the JSON schema: change the declaration in Rust, not this file.
"""

from collections.abc import Sequence
from typing import Literal, Required, TypedDict

from penstock.declared import SchemeName


class BufferAlpha(TypedDict, total=False):
    """``buffer.alpha`` of a scenario file."""

    dynamic_th: Required[float]


class Buffer(TypedDict, total=False):
    """``buffer`` of a scenario file."""

    alpha: float | str | BufferAlpha | Literal["none"] | dict[str, float | str | BufferAlpha | Literal["none"]]
    cell: str
    headroom: Literal["auto"] | str
    ingress_alpha: float | str | BufferAlpha | Literal["none"] | dict[str, float | str | BufferAlpha | Literal["none"]]
    ingress_reserve: str | dict[str, str]
    name: str
    priorities: Sequence[int]
    reserve: str | dict[str, str]
    size: str
    switches: Literal["all"] | str | Sequence[str]


class BurstDegree(TypedDict, total=False):
    """``burst.degree`` of a scenario file."""

    maximum: Required[int]
    minimum: Required[int]


class FlowResponseExponential(TypedDict, total=False):
    """``flow.response.exponential`` of a scenario file."""

    mean: Required[str]


class FlowResponseLognormal(TypedDict, total=False):
    """``flow.response.lognormal`` of a scenario file."""

    maximum: str
    median: Required[str]
    minimum: str
    sigma: Required[float]


class FlowResponsePareto(TypedDict, total=False):
    """``flow.response.pareto`` of a scenario file."""

    maximum: Required[str]
    minimum: Required[str]
    shape: Required[float]


class FlowResponsePoints(TypedDict, total=False):
    """``flow.response.points`` of a scenario file."""

    share: Required[float]
    size: Required[str]


class FlowResponseUniform(TypedDict, total=False):
    """``flow.response.uniform`` of a scenario file."""

    maximum: Required[str]
    minimum: Required[str]


class FlowResponse(TypedDict, total=False):
    """``flow.response`` of a scenario file."""

    exponential: FlowResponseExponential
    lognormal: FlowResponseLognormal
    pareto: FlowResponsePareto
    points: Sequence[FlowResponsePoints]
    uniform: FlowResponseUniform
    workload: Literal["alistorage", "googlerpc", "hadoop", "homa-w5", "solar", "websearch"]


class FlowTransportGoBackN(TypedDict, total=False):
    """``flow.transport.go-back-n`` of a scenario file."""

    ack_every: int
    mtu: str
    timeout: str


class FlowTransportSelective(TypedDict, total=False):
    """``flow.transport.selective`` of a scenario file."""

    ack_every: int
    bdp_cap: int
    bitmap: bool
    mtu: str
    reordering: int
    rto_few: int
    rto_high: str
    rto_low: str


class FlowTransportTcp(TypedDict, total=False):
    """``flow.transport.tcp`` of a scenario file."""

    ack_delay: str
    ack_every: int
    congestion: Literal["newreno", "cubic", "dctcp", "bbr"]
    ecn: bool
    ecn_floor: int
    fast_convergence: bool
    g_inverse: int
    idle_restart: bool
    initial_window: int
    min_rtt_window: str
    mss: str
    offload: bool
    probe_rtt: str
    rack: bool
    receive_window: str
    rto_initial: str
    rto_max: str
    rto_min: str
    sack: bool
    validate_window: bool


FlowTransport = TypedDict(
    "FlowTransport",
    {
        "go-back-n": FlowTransportGoBackN,
        "selective": FlowTransportSelective,
        "tcp": FlowTransportTcp,
    },
    total=False,
)
"""``flow.transport`` of a scenario file."""


class Burst(TypedDict, total=False):
    """``burst`` of a scenario file."""

    acks: Literal["control"] | int
    cluster: float
    controlled: bool
    correlation: float
    degree: Required[int | BurstDegree]
    duration: str
    end: str
    every: str
    frame: str
    gap: str
    hosts: str | Sequence[str]
    load: float
    name: str
    priority: int
    seed: int
    size: str | FlowResponse
    spread: str
    start: str
    to: str | Sequence[str]
    transport: Literal["none", "tcp", "go-back-n", "selective"] | FlowTransport
    weight: int


class ChangeSchemesAfQcn(TypedDict, total=False):
    """``change.schemes.af-qcn`` of a scenario file."""

    af_alone: bool
    ai_hai_sequence: Literal["counters", "serial"]
    alpha: float
    below_share: Literal["weighted", "qcn", "nothing"]
    cycle_halving: Literal["per-counter", "hai-only", "never"]
    decrease_order: Literal["simultaneous", "printed"]
    efr: Literal["byte-stage", "neither-fired", "off"]
    flow_gain: float
    flow_interval: str
    flow_lifetime: str
    flow_sample: str
    flow_table_size: int
    fr_cycles: Literal["threshold", "threshold-less-one"]
    gd_inverse: int
    hai_multiplier: Literal["min-count", "min-count-plus-one", "ordinal", "one"]
    jitter_rp: Literal["reload", "always", "off"]
    q_eq: str
    qold_update: Literal["every-sample", "last-sent"]
    quantise: Literal["linear63", "shift6", "none"]
    rl_create: Literal["above-set-point", "any", "always"]
    rl_idle_time: str
    rl_release: Literal["line-rate", "idle", "never"]
    rp_jitter: float
    rpg_ai_rate: str
    rpg_byte_reset: str
    rpg_hai_rate: str
    rpg_max_rate: str
    rpg_min_dec_fac: int
    rpg_min_rate: str
    rpg_threshold: int
    rpg_time_reset: str
    sample_base: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sample_probability_max: float
    sample_step: int
    sample_table: Literal["paper", "harmonic"]
    sampling: Literal["table", "probability", "step", "count", "every-frame"]
    send_qf0: bool
    timer_on: bool
    tr_clamp: bool
    trr: Literal["first-cycle", "any-time", "off"]
    w: float


class ChangeSchemesAnnulus(TypedDict, total=False):
    """``change.schemes.annulus`` of a scenario file."""

    ai_hai_sequence: Literal["counters", "serial"]
    at_most_bdp: bool
    base_rtt: str | Literal["auto"]
    cycle_halving: Literal["per-counter", "hai-only", "never"]
    decrease_order: Literal["simultaneous", "printed"]
    efr: Literal["byte-stage", "neither-fired", "off"]
    end_to_end: Literal["dctcp", "none"]
    first_window: Literal["segments", "bdp"]
    fr_cycles: Literal["threshold", "threshold-less-one"]
    g_inverse: int
    gate: Literal["whole", "open"]
    gd_inverse: int
    hai_multiplier: Literal["min-count", "min-count-plus-one", "ordinal", "one"]
    initial_window: int | Literal["auto"]
    jitter_rp: Literal["reload", "always", "off"]
    k: str
    marking: Literal["threshold", "pi"]
    near_hops: int
    paced: bool
    pi_a: float
    pi_b: float
    pi_interval: str
    pi_q_ref: str
    q_eq: str
    qold_update: Literal["every-sample", "last-sent"]
    quantise: Literal["linear63", "shift6", "none"]
    rl_create: Literal["above-set-point", "any", "always"]
    rl_idle_time: str
    rl_release: Literal["line-rate", "idle", "never"]
    rp_jitter: float
    rpg_ai_rate: str
    rpg_byte_reset: str
    rpg_hai_rate: str
    rpg_max_rate: str
    rpg_min_dec_fac: int
    rpg_min_rate: str
    rpg_threshold: int
    rpg_time_reset: str
    sample_base: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sample_probability_max: float
    sample_step: int
    sample_table: Literal["paper", "harmonic"]
    sampling: Literal["table", "probability", "step", "count", "every-frame"]
    segment: str
    send_qf0: bool
    thresholds_at: str
    timer_on: bool
    tr_clamp: bool
    trr: Literal["first-cycle", "any-time", "off"]
    w: float


class ChangeSchemesBcn(TypedDict, total=False):
    """``change.schemes.bcn`` of a scenario file."""

    bcn_00: bool
    bcn_max: bool
    drift: bool
    gd_inverse: int
    gi: float
    over_sampling: bool
    positive_below_q_eq: bool
    q_eq: str
    q_sc: str
    rd: str
    rmin: str
    ru: str
    sample_dropped: bool
    sample_interval: str
    sample_interval_severe: str
    sample_jitter: float
    td: str
    td_jitter: float
    tmax: str
    w: float


class SchemesCi(TypedDict, total=False):
    """``schemes.ci`` of a scenario file."""

    cim_interval: str
    congesting_priority: int
    k_max: str
    k_min: str
    max_cim_tx: int
    max_flow_life: str
    min_header_octets: int
    stream_table_size: int


class ChangeSchemesDcqcn(TypedDict, total=False):
    """``change.schemes.dcqcn`` of a scenario file."""

    alpha0: float
    alpha_order: Literal["cut-first", "update-first"]
    alpha_time: str
    alpha_update: Literal["per-cnp", "per-interval"]
    byte_reset: str
    clamp_tgt_rate: int | Literal["every-cut", "after-increase"]
    cnp_interval: str
    cnp_rule: Literal["next-mark", "end-of-interval"]
    counters: Literal["both", "timer"]
    dce_tcp_g: int
    dce_tcp_rtt: int | str
    decrease_time: str
    f: int
    first_cnp_percent: int
    g_inverse: int
    hai_boundary: Literal["above", "at-or-above"]
    hai_factor: Literal["stages", "one"]
    initial_alpha_value: int | float
    k_max: str
    k_min: str
    marking: Literal["threshold", "pi"]
    min_rate: str
    min_time_between_cnps: int | str
    p_max: float
    pi_a: float
    pi_b: float
    pi_interval: str
    pi_q_ref: str
    r_ai: str
    r_hai: str
    rate_reduce_monitor_period: int | str
    rpg_ai_rate: int | str
    rpg_byte_reset: int | str
    rpg_hai_rate: int | str
    rpg_min_rate: int | str
    rpg_threshold: int
    rpg_time_reset: int | str
    rt_update: Literal["every-cut", "after-increase"]
    thresholds_at: str
    time_reset: str
    tr_clamp: bool


class ChangeSchemesDcqcnWindow(TypedDict, total=False):
    """``change.schemes.dcqcn-window`` of a scenario file."""

    alpha0: float
    alpha_order: Literal["cut-first", "update-first"]
    alpha_time: str
    alpha_update: Literal["per-cnp", "per-interval"]
    byte_reset: str
    clamp_tgt_rate: int | Literal["every-cut", "after-increase"]
    cnp_interval: str
    cnp_rule: Literal["next-mark", "end-of-interval"]
    counters: Literal["both", "timer"]
    dce_tcp_g: int
    dce_tcp_rtt: int | str
    decrease_time: str
    f: int
    first_cnp_percent: int
    g_inverse: int
    hai_boundary: Literal["above", "at-or-above"]
    hai_factor: Literal["stages", "one"]
    initial_alpha_value: int | float
    k_max: str
    k_min: str
    marking: Literal["threshold", "pi"]
    min_rate: str
    min_time_between_cnps: int | str
    p_max: float
    pi_a: float
    pi_b: float
    pi_interval: str
    pi_q_ref: str
    r_ai: str
    r_hai: str
    rate_reduce_monitor_period: int | str
    rpg_ai_rate: int | str
    rpg_byte_reset: int | str
    rpg_hai_rate: int | str
    rpg_min_rate: int | str
    rpg_threshold: int
    rpg_time_reset: int | str
    rt_update: Literal["every-cut", "after-increase"]
    thresholds_at: str
    time_reset: str
    tr_clamp: bool
    window_time: str | Literal["auto"]


class ChangeSchemesDctcp(TypedDict, total=False):
    """``change.schemes.dctcp`` of a scenario file."""

    at_most_bdp: bool
    base_rtt: str | Literal["auto"]
    first_window: Literal["segments", "bdp"]
    g_inverse: int
    gate: Literal["whole", "open"]
    initial_window: int | Literal["auto"]
    k: str
    marking: Literal["threshold", "pi"]
    paced: bool
    pi_a: float
    pi_b: float
    pi_interval: str
    pi_q_ref: str
    segment: str
    thresholds_at: str


class SchemesE2cm(TypedDict, total=False):
    """``schemes.e2cm`` of a scenario file."""

    bcn_00: bool
    bcn_max: bool
    drift: bool
    gd_inverse: int
    gi: float
    latency_threshold: str
    over_sampling: bool
    positive_below_q_eq: bool
    probe_interval: str
    q_eq: str
    q_sc: str
    rd: str
    recovery_most: int
    recovery_step: str
    rmin: str
    ru: str
    sample_dropped: bool
    sample_interval: str
    sample_interval_severe: str
    sample_jitter: float
    td: str
    td_jitter: float
    tmax: str
    w: float


class ChangeSchemesEfecn(TypedDict, total=False):
    """``change.schemes.efecn`` of a scenario file."""

    a: float
    averaging: Literal["off", "turns", "always"]
    averaging_weight: float
    b: float
    bcn_00_rule: Literal["per-frame", "once-per-source"]
    c: float
    capacity: Literal["measured", "line"]
    capacity_adjustment: bool
    fecn_branch: Literal["ab", "ba"]
    flow_table: int
    interval: str
    limited_increase: bool
    load: Literal["accepted", "offered"]
    load_probes: bool
    min_rate: str
    phase: str
    probe_class: Literal["data", "control"]
    probe_spread: str
    q_eq: str
    q_sc: str
    regulators: Literal["per-flow", "per-congestion-point"]
    rmin_n0: int
    timeout: str


class ChangeSchemesExpresspass(TypedDict, total=False):
    """``change.schemes.expresspass`` of a scenario file."""

    credit_queue: int
    frame: str
    initial: float
    jitter: float
    retry: str
    target_loss: float
    w_init: float
    w_max: float
    w_min: float
    w_step: float


class ChangeSchemesFastCnp(TypedDict, total=False):
    """``change.schemes.fast-cnp`` of a scenario file."""

    alpha0: float
    alpha_order: Literal["cut-first", "update-first"]
    alpha_time: str
    alpha_update: Literal["per-cnp", "per-interval"]
    byte_reset: str
    clamp_tgt_rate: int | Literal["every-cut", "after-increase"]
    cnp_interval: str
    cnp_rule: Literal["next-mark", "end-of-interval"]
    counters: Literal["both", "timer"]
    dce_tcp_g: int
    dce_tcp_rtt: int | str
    decrease_time: str
    f: int
    fb: int
    first_cnp_percent: int
    flow_table_size: int
    g_inverse: int
    gd_inverse: int
    hai_boundary: Literal["above", "at-or-above"]
    hai_factor: Literal["stages", "one"]
    initial_alpha_value: int | float
    k_max: str
    k_min: str
    mark_ecn: bool
    marking: Literal["threshold", "pi"]
    min_rate: str
    min_time_between_cnps: int | str
    p_max: float
    pause_time: str
    pi_a: float
    pi_b: float
    pi_interval: str
    pi_q_ref: str
    proxy: bool
    r_ai: str
    r_hai: str
    rate_reduce_monitor_period: int | str
    reaction: Literal["dcqcn", "qcn", "pause"]
    rpg_ai_rate: int | str
    rpg_byte_reset: int | str
    rpg_hai_rate: int | str
    rpg_min_rate: int | str
    rpg_threshold: int
    rpg_time_reset: int | str
    rt_update: Literal["every-cut", "after-increase"]
    thresholds_at: str
    time_reset: str
    tr_clamp: bool


class ChangeSchemesFecn(TypedDict, total=False):
    """``change.schemes.fecn`` of a scenario file."""

    a: float
    averaging: Literal["off", "turns", "always"]
    averaging_weight: float
    b: float
    c: float
    capacity: Literal["measured", "line"]
    capacity_adjustment: bool
    fecn_branch: Literal["ab", "ba"]
    flow_table: int
    interval: str
    limited_increase: bool
    load: Literal["accepted", "offered"]
    load_probes: bool
    min_rate: str
    n0: int
    phase: str
    probe_class: Literal["data", "control"]
    probe_spread: str
    q_eq: str
    regulators: Literal["per-flow", "per-congestion-point"]
    rmin_n0: int
    timeout: str


class ChangeSchemesFqcn(TypedDict, total=False):
    """``change.schemes.fqcn`` of a scenario file."""

    ai_hai_sequence: Literal["counters", "serial"]
    cycle_halving: Literal["per-counter", "hai-only", "never"]
    decrease_order: Literal["simultaneous", "printed"]
    efr: Literal["byte-stage", "neither-fired", "off"]
    flow_gain: float
    flow_interval: str
    flow_lifetime: str
    flow_sample: str
    flow_table_size: int
    fr_cycles: Literal["threshold", "threshold-less-one"]
    gd_inverse: int
    hai_multiplier: Literal["min-count", "min-count-plus-one", "ordinal", "one"]
    jitter_rp: Literal["reload", "always", "off"]
    q_eq: str
    qold_update: Literal["every-sample", "last-sent"]
    quantise: Literal["linear63", "shift6", "none"]
    rl_create: Literal["above-set-point", "any", "always"]
    rl_idle_time: str
    rl_release: Literal["line-rate", "idle", "never"]
    rp_jitter: float
    rpg_ai_rate: str
    rpg_byte_reset: str
    rpg_hai_rate: str
    rpg_max_rate: str
    rpg_min_dec_fac: int
    rpg_min_rate: str
    rpg_threshold: int
    rpg_time_reset: str
    sample_base: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sample_probability_max: float
    sample_step: int
    sample_table: Literal["paper", "harmonic"]
    sampling: Literal["table", "probability", "step", "count", "every-frame"]
    send_qf0: bool
    timer_on: bool
    tr_clamp: bool
    trr: Literal["first-cycle", "any-time", "off"]
    w: float


class ChangeSchemesHoma(TypedDict, total=False):
    """``change.schemes.homa`` of a scenario file."""

    boosted_tail: str
    cutoff_1: str
    cutoff_2: str
    cutoff_3: str
    cutoff_4: str
    cutoff_5: str
    cutoff_6: str
    overcommitment: int
    resend: str
    resends: int
    rtt_octets: str | Literal["auto"]
    scheduled_levels: int
    unscheduled_levels: int


class ChangeSchemesHpcc(TypedDict, total=False):
    """``change.schemes.hpcc`` of a scenario file."""

    base_rtt: str | Literal["auto"]
    eta: float
    gap: Literal["rest", "whole"]
    gate: Literal["whole", "open"]
    max_stage: int
    min_rate: str
    telemetry: Literal["records", "pint"]
    unit_factor: int
    w_ai: str


class SchemesIci(TypedDict, total=False):
    """``schemes.ici`` of a scenario file."""

    alpha0: float
    alpha_order: Literal["cut-first", "update-first"]
    alpha_time: str
    alpha_update: Literal["per-cnp", "per-interval"]
    byte_reset: str
    ci_k_max: str
    ci_k_min: str
    cim_interval: str
    clamp_tgt_rate: int | Literal["every-cut", "after-increase"]
    cnp_interval: str
    cnp_rule: Literal["next-mark", "end-of-interval"]
    congesting_priority: int
    counters: Literal["both", "timer"]
    dce_tcp_g: int
    dce_tcp_rtt: int | str
    decrease_time: str
    f: int
    first_cnp_percent: int
    g_inverse: int
    hai_boundary: Literal["above", "at-or-above"]
    hai_factor: Literal["stages", "one"]
    initial_alpha_value: int | float
    k_max: str
    k_min: str
    marking: Literal["threshold", "pi"]
    marks: Literal["isolated", "all"]
    max_cim_tx: int
    max_flow_life: str
    min_header_octets: int
    min_rate: str
    min_time_between_cnps: int | str
    p_max: float
    pi_a: float
    pi_b: float
    pi_interval: str
    pi_q_ref: str
    r_ai: str
    r_hai: str
    rate_reduce_monitor_period: int | str
    rpg_ai_rate: int | str
    rpg_byte_reset: int | str
    rpg_hai_rate: int | str
    rpg_min_rate: int | str
    rpg_threshold: int
    rpg_time_reset: int | str
    rt_update: Literal["every-cut", "after-increase"]
    stream_table_size: int
    thresholds_at: str
    time_reset: str
    tr_clamp: bool


class ChangeSchemesNdp(TypedDict, total=False):
    """``change.schemes.ndp`` of a scenario file."""

    initial_window: int
    rto: str


class SchemesNone(TypedDict, total=False):
    """``schemes.none`` of a scenario file."""


class ChangeSchemesNscc(TypedDict, total=False):
    """``change.schemes.nscc`` of a scenario file."""

    alpha_frames: float
    delay_alpha: float
    eta_frames: float
    feedback: Literal["latest", "median"]
    fi_frames: float
    gamma: float
    history: int
    k_max: str
    k_min: str
    marking: Literal["threshold", "pi"]
    network_rtt: str | Literal["auto"]
    packet: str
    pi_a: float
    pi_b: float
    pi_interval: str
    pi_q_ref: str
    qa_gate: int
    qa_targets: float
    receiver_penalty: int
    target_qdelay: str
    thresholds_at: str
    trimming: bool


class ChangeSchemesPowertcp(TypedDict, total=False):
    """``change.schemes.powertcp`` of a scenario file."""

    base_rtt: str | Literal["auto"]
    flows: int
    gamma: float
    gap: Literal["rest", "whole"]
    gate: Literal["whole", "open"]
    segment: str
    target: float
    unit_factor: int


class ChangeSchemesQcn(TypedDict, total=False):
    """``change.schemes.qcn`` of a scenario file."""

    ai_hai_sequence: Literal["counters", "serial"]
    cycle_halving: Literal["per-counter", "hai-only", "never"]
    decrease_order: Literal["simultaneous", "printed"]
    efr: Literal["byte-stage", "neither-fired", "off"]
    fr_cycles: Literal["threshold", "threshold-less-one"]
    gd_inverse: int
    hai_multiplier: Literal["min-count", "min-count-plus-one", "ordinal", "one"]
    jitter_rp: Literal["reload", "always", "off"]
    q_eq: str
    qold_update: Literal["every-sample", "last-sent"]
    quantise: Literal["linear63", "shift6", "none"]
    rl_create: Literal["above-set-point", "any", "always"]
    rl_idle_time: str
    rl_release: Literal["line-rate", "idle", "never"]
    rp_jitter: float
    rpg_ai_rate: str
    rpg_byte_reset: str
    rpg_hai_rate: str
    rpg_max_rate: str
    rpg_min_dec_fac: int
    rpg_min_rate: str
    rpg_threshold: int
    rpg_time_reset: str
    sample_base: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sample_probability_max: float
    sample_step: int
    sample_table: Literal["paper", "harmonic"]
    sampling: Literal["table", "probability", "step", "count", "every-frame"]
    send_qf0: bool
    timer_on: bool
    tr_clamp: bool
    trr: Literal["first-cycle", "any-time", "off"]
    w: float


class ChangeSchemesQcnAdaptive(TypedDict, total=False):
    """``change.schemes.qcn-adaptive`` of a scenario file."""

    ai_hai_sequence: Literal["counters", "serial"]
    cycle_halving: Literal["per-counter", "hai-only", "never"]
    decrease_order: Literal["simultaneous", "printed"]
    efr: Literal["byte-stage", "neither-fired", "off"]
    fr_cycles: Literal["threshold", "threshold-less-one"]
    gd_inverse: int
    hai_multiplier: Literal["min-count", "min-count-plus-one", "ordinal", "one"]
    halve_adaptive: bool
    jitter_rp: Literal["reload", "always", "off"]
    k: str
    q_eq: str
    qold_update: Literal["every-sample", "last-sent"]
    quantise: Literal["linear63", "shift6", "none"]
    rl_create: Literal["above-set-point", "any", "always"]
    rl_idle_time: str
    rl_release: Literal["line-rate", "idle", "never"]
    rp_jitter: float
    rpg_ai_rate: str
    rpg_hai_rate: str
    rpg_max_rate: str
    rpg_min_dec_fac: int
    rpg_min_rate: str
    rpg_threshold: int
    rpg_time_reset: str
    sample_base: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sample_probability_max: float
    sample_step: int
    sample_table: Literal["paper", "harmonic"]
    sampling: Literal["table", "probability", "step", "count", "every-frame"]
    send_qf0: bool
    timer_on: bool
    tr_clamp: bool
    trr: Literal["first-cycle", "any-time", "off"]
    w: float


class ChangeSchemesQcnBs(TypedDict, total=False):
    """``change.schemes.qcn-bs`` of a scenario file."""

    ai_hai_sequence: Literal["counters", "serial"]
    bs_first: Literal["create-then-decrease", "create-only"]
    cycle_halving: Literal["per-counter", "hai-only", "never"]
    decrease_order: Literal["simultaneous", "printed"]
    efr: Literal["byte-stage", "neither-fired", "off"]
    entry_create: Literal["any", "above-set-point"]
    entry_idle_time: str
    entry_key: Literal["switch", "queue"]
    entry_release: Literal["line-rate", "idle", "never"]
    fr_cycles: Literal["threshold", "threshold-less-one"]
    gd_inverse: int
    hai_multiplier: Literal["min-count", "min-count-plus-one", "ordinal", "one"]
    jitter_rp: Literal["reload", "always", "off"]
    q_eq: str
    qold_update: Literal["every-sample", "last-sent"]
    quantise: Literal["linear63", "shift6", "none"]
    rp_jitter: float
    rpg_ai_rate: str
    rpg_byte_reset: str
    rpg_hai_rate: str
    rpg_max_rate: str
    rpg_min_dec_fac: int
    rpg_min_rate: str
    rpg_threshold: int
    rpg_time_reset: str
    sample_base: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sample_probability_max: float
    sample_step: int
    sample_table: Literal["paper", "harmonic"]
    sampling: Literal["table", "probability", "step", "count", "every-frame"]
    send_qf0: bool
    table_size: int
    timer_on: bool
    tr_clamp: bool
    trr: Literal["first-cycle", "any-time", "off"]
    w: float


class ChangeSchemesQcnBsAdaptive(TypedDict, total=False):
    """``change.schemes.qcn-bs-adaptive`` of a scenario file."""

    ai_hai_sequence: Literal["counters", "serial"]
    bs_first: Literal["create-then-decrease", "create-only"]
    cycle_halving: Literal["per-counter", "hai-only", "never"]
    decrease_order: Literal["simultaneous", "printed"]
    efr: Literal["byte-stage", "neither-fired", "off"]
    entry_create: Literal["any", "above-set-point"]
    entry_idle_time: str
    entry_key: Literal["switch", "queue"]
    entry_release: Literal["line-rate", "idle", "never"]
    fr_cycles: Literal["threshold", "threshold-less-one"]
    gd_inverse: int
    hai_multiplier: Literal["min-count", "min-count-plus-one", "ordinal", "one"]
    halve_adaptive: bool
    jitter_rp: Literal["reload", "always", "off"]
    k: str
    q_eq: str
    qold_update: Literal["every-sample", "last-sent"]
    quantise: Literal["linear63", "shift6", "none"]
    rp_jitter: float
    rpg_ai_rate: str
    rpg_hai_rate: str
    rpg_max_rate: str
    rpg_min_dec_fac: int
    rpg_min_rate: str
    rpg_threshold: int
    rpg_time_reset: str
    sample_base: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sample_probability_max: float
    sample_step: int
    sample_table: Literal["paper", "harmonic"]
    sampling: Literal["table", "probability", "step", "count", "every-frame"]
    send_qf0: bool
    table_size: int
    timer_on: bool
    tr_clamp: bool
    trr: Literal["first-cycle", "any-time", "off"]
    w: float


class ChangeSchemesQcnMulticast(TypedDict, total=False):
    """``change.schemes.qcn-multicast`` of a scenario file."""

    ai_hai_sequence: Literal["counters", "serial"]
    cycle_halving: Literal["per-counter", "hai-only", "never"]
    decrease_order: Literal["simultaneous", "printed"]
    efr: Literal["byte-stage", "neither-fired", "off"]
    fr_cycles: Literal["threshold", "threshold-less-one"]
    gd_inverse: int
    hai_multiplier: Literal["min-count", "min-count-plus-one", "ordinal", "one"]
    jitter_rp: Literal["reload", "always", "off"]
    q_eq: str
    qold_update: Literal["every-sample", "last-sent"]
    quantise: Literal["linear63", "shift6", "none"]
    rl_create: Literal["above-set-point", "any", "always"]
    rl_idle_time: str
    rl_release: Literal["line-rate", "idle", "never"]
    rp_jitter: float
    rpg_ai_rate: str
    rpg_byte_reset: str
    rpg_hai_rate: str
    rpg_max_rate: str
    rpg_min_dec_fac: int
    rpg_min_rate: str
    rpg_threshold: int
    rpg_time_reset: str
    sample_base: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sample_probability_max: float
    sample_step: int
    sample_table: Literal["paper", "harmonic"]
    sampling: Literal["table", "probability", "step", "count", "every-frame"]
    send_qf0: bool
    tie: Literal["cpid", "all"]
    timer_on: bool
    tr_clamp: bool
    trr: Literal["first-cycle", "any-time", "off"]
    w: float


class SchemesRocc(TypedDict, total=False):
    """``schemes.rocc`` of a scenario file."""

    alpha: float
    beta: float
    f_min: str
    flow_table_size: int
    interval: str
    q_max: str
    q_mid: str
    q_ref: str
    self_rise: str


class SchemesSfc(TypedDict, total=False):
    """``schemes.sfc`` of a scenario file."""

    flow_table_size: int
    max_pause: str
    q_off: str
    q_on: str


class ChangeSchemesSmcc(TypedDict, total=False):
    """``change.schemes.smcc`` of a scenario file."""

    bind_on: Literal["above-target", "decrease"]
    delta_zero: Literal["state-a", "state-b", "sign-bit"]
    first_interval: Literal["whole", "drawn"]
    hold_change: bool
    increase_from: Literal["bound", "any"]
    increase_to: Literal["all", "bound"]
    min_rate: str
    offset_zero: Literal["sign-bit", "state-b", "no-change"]
    q0: str
    ra: str
    ra_at: str
    ra_small: str
    rb: str
    rb_at: str
    sample_count: int
    sample_dropped: bool
    sample_jitter: float
    sample_probability: float
    sampling: Literal["count", "probability"]
    t1: str
    two_stage: bool


class ChangeSchemesSwift(TypedDict, total=False):
    """``change.schemes.swift`` of a scenario file."""

    base_delay_target: str | Literal["auto"]
    delay_smoothing_alpha: float
    fabric_additive_increment: float
    fabric_multiplicative_decrease_factor: float
    falls_after: Literal["marker", "last-decrease"]
    feedback: Literal["latest", "median"]
    history: int
    initial_fcwnd: float | Literal["auto"]
    late_in_a_row: int
    max_fabric_multiplicative_decrease_factor: float
    max_fcwnd: float
    max_flow_scaling: str
    max_flow_scaling_window: float
    max_ncwnd: int
    max_nic_multiplicative_decrease_factor: float
    min_fcwnd: float
    min_flow_scaling_window: float
    min_ncwnd: int
    min_rate: str
    nic_additive_increment: int
    packet: str
    receive_buffer: str
    receive_rate: str
    retransmit_limit: int
    target_rx_buffer_level: int
    topology_scaling_per_hop: str


class ChangeSchemesThetaPowertcp(TypedDict, total=False):
    """``change.schemes.theta-powertcp`` of a scenario file."""

    base_rtt: str | Literal["auto"]
    flows: int
    gamma: float
    gap: Literal["rest", "whole"]
    gate: Literal["whole", "open"]
    load: float
    segment: str
    target: float


class ChangeSchemesTimely(TypedDict, total=False):
    """``change.schemes.timely`` of a scenario file."""

    alpha: float
    beta: float
    d_min: str | Literal["auto"]
    delta: str
    hai_after: int
    hai_counts: Literal["gradient", "every-rise"]
    initial: float
    law: Literal["gradient", "patched"]
    min_rate: str
    most_cut: float
    segment: str
    t_high: str
    t_low: str
    t_ref: str
    updates: Literal["each-acknowledgement", "each-round-trip"]
    window_time: str | Literal["auto"]


ChangeSchemes = TypedDict(
    "ChangeSchemes",
    {
        "af-qcn": ChangeSchemesAfQcn,
        "annulus": ChangeSchemesAnnulus,
        "bcn": ChangeSchemesBcn,
        "ci": SchemesCi,
        "dcqcn": ChangeSchemesDcqcn,
        "dcqcn-window": ChangeSchemesDcqcnWindow,
        "dctcp": ChangeSchemesDctcp,
        "e2cm": SchemesE2cm,
        "efecn": ChangeSchemesEfecn,
        "expresspass": ChangeSchemesExpresspass,
        "fast-cnp": ChangeSchemesFastCnp,
        "fecn": ChangeSchemesFecn,
        "fqcn": ChangeSchemesFqcn,
        "homa": ChangeSchemesHoma,
        "hpcc": ChangeSchemesHpcc,
        "ici": SchemesIci,
        "ndp": ChangeSchemesNdp,
        "none": SchemesNone,
        "nscc": ChangeSchemesNscc,
        "powertcp": ChangeSchemesPowertcp,
        "qcn": ChangeSchemesQcn,
        "qcn-adaptive": ChangeSchemesQcnAdaptive,
        "qcn-bs": ChangeSchemesQcnBs,
        "qcn-bs-adaptive": ChangeSchemesQcnBsAdaptive,
        "qcn-multicast": ChangeSchemesQcnMulticast,
        "rocc": SchemesRocc,
        "sfc": SchemesSfc,
        "smcc": ChangeSchemesSmcc,
        "swift": ChangeSchemesSwift,
        "theta-powertcp": ChangeSchemesThetaPowertcp,
        "timely": ChangeSchemesTimely,
    },
    total=False,
)
"""``change.schemes`` of a scenario file."""


class Change(TypedDict, total=False):
    """``change`` of a scenario file."""

    at: Required[str]
    down_for: str
    every: str
    link: str
    rate: str
    schemes: ChangeSchemes
    state: Literal["down", "up"]
    times: int
    until: str


class FlowStart(TypedDict, total=False):
    """``flow.start`` of a scenario file."""

    uniform: Required[FlowResponseUniform]


class Collective(TypedDict, total=False):
    """``collective`` of a scenario file."""

    acks: Literal["control"] | int
    algorithm: Literal["ring", "tree", "halving-doubling", "direct", "pairwise", "nccl"]
    channels: int
    chunks: int
    compute: str | FlowStart
    connections: Literal["kept", "per-message"]
    controlled: bool
    frame: str
    group: int
    hosts: str | Sequence[str]
    in_flight: int
    inside: Literal["ring", "tree", "halving-doubling", "direct", "pairwise", "nccl"]
    iterations: int
    kind: Required[
        Literal[
            "all-reduce",
            "reduce-scatter",
            "all-gather",
            "all-to-all",
            "broadcast",
            "reduce",
            "barrier",
        ]
    ]
    local_latency: str
    local_rate: str
    name: str
    placement: Literal["in-order", "by-rack", "random"]
    priority: int
    ranks_per_host: int
    seed: int
    shares: Sequence[int]
    size: Required[str]
    start: str
    step_latency: str
    stride: int
    transport: Literal["none", "tcp", "go-back-n", "selective"] | FlowTransport
    weight: int


class Credits(TypedDict, total=False):
    """``credits`` of a scenario file."""

    buffer: Literal["auto"] | str
    cell: str
    links: Literal["all"] | Sequence[str]
    priorities: Sequence[int]
    spacing: str
    sync: str


Event = TypedDict(
    "Event",
    {
        "from": Required[str],
        "host": Required[str],
        "interval": str,
        "kind": Required[Literal["pfc-storm"]],
        "priorities": Sequence[int],
        "until": str,
    },
    total=False,
)
"""``event`` of a scenario file."""


class FlowExcess(TypedDict, total=False):
    """``flow.excess`` of a scenario file."""

    queue: Required[str]


class FlowThink(TypedDict, total=False):
    """``flow.think`` of a scenario file."""

    exponential: Required[FlowResponseExponential]


Flow = TypedDict(
    "Flow",
    {
        "acks": Literal["control"] | int,
        "after": str | Sequence[str],
        "after_each": str | Sequence[str],
        "controlled": bool,
        "delay": str,
        "every": str,
        "excess": Literal["wait", "discard", "stall"] | FlowExcess,
        "frame": str,
        "from": Required[str | Sequence[str]],
        "name": str,
        "off": str,
        "on": str,
        "path": Sequence[str],
        "priority": int,
        "random": bool,
        "rate": str,
        "repeat": int,
        "response": str | FlowResponse,
        "size": str | FlowResponse,
        "stagger": str,
        "start": str | FlowStart,
        "stop": str,
        "think": str | FlowThink,
        "to": Required[str | Sequence[str]],
        "traffic": Literal["greedy", "constant", "poisson", "on-off"],
        "transport": Literal["none", "tcp", "go-back-n", "selective"] | FlowTransport,
        "weight": int,
    },
    total=False,
)
"""``flow`` of a scenario file."""


class Group(TypedDict, total=False):
    """``group`` of a scenario file."""

    links: Sequence[str]
    members: Required[str | Sequence[str]]
    name: Required[str]


class Host(TypedDict, total=False):
    """``host`` of a scenario file."""

    buffer: Required[str]
    drain_rate: Required[str]
    names: Required[str | Sequence[str] | Literal["all"]]
    xoff: str
    xon: str


class HostsPacerTokenBucket(TypedDict, total=False):
    """``hosts.pacer.token_bucket`` of a scenario file."""

    depth: Required[str]
    granularity: Required[str]
    interval: Required[str]


class HostsPacer(TypedDict, total=False):
    """``hosts.pacer`` of a scenario file."""

    token_bucket: Required[HostsPacerTokenBucket]


class HostsTransmitQueue(TypedDict, total=False):
    """``hosts.transmit_queue`` of a scenario file."""

    limit: Required[str]
    when_full: Literal["wait", "drop"]


class Hosts(TypedDict, total=False):
    """``hosts`` of a scenario file."""

    pacer: Literal["ideal"] | HostsPacer
    queue: Literal["arbiter"] | str
    reaction_points: Literal["per-flow", "per-host"]
    transmit_queue: Literal["none"] | HostsTransmitQueue


class ImpairmentBurst(TypedDict, total=False):
    """``impairment.burst`` of a scenario file."""

    loss_bad: float
    loss_good: float
    p: Required[float]
    r: Required[float]


Impairment = TypedDict(
    "Impairment",
    {
        "ber": float,
        "burst": ImpairmentBurst,
        "control": bool,
        "from": str,
        "links": Literal["all"] | Sequence[str],
        "loss": float,
        "until": str,
    },
    total=False,
)
"""``impairment`` of a scenario file."""


class Incast(TypedDict, total=False):
    """``incast`` of a scenario file."""

    acks: Literal["control"] | int
    controlled: bool
    end: str
    every: Required[str]
    fan_in: Required[int]
    frame: str
    hosts: str | Sequence[str]
    name: str
    priority: int
    random: bool
    seed: int
    size: Required[str | FlowResponse]
    start: str
    to: str
    transport: Literal["none", "tcp", "go-back-n", "selective"] | FlowTransport
    weight: int


class Job(TypedDict, total=False):
    """``job`` of a scenario file."""

    acks: Literal["control"] | int
    complete: bool
    connections: Literal["kept", "per-message"]
    controlled: bool
    frame: str
    graph: Required[str]
    hosts: str | Sequence[str]
    iterations: int
    local_latency: str
    local_rate: str
    name: str
    placement: Literal["in-order", "by-rack", "random"]
    priority: int
    ranks_per_host: int
    seed: int
    start: str
    transport: Literal["none", "tcp", "go-back-n", "selective"] | FlowTransport
    weight: int


class Load(TypedDict, total=False):
    """``load`` of a scenario file."""

    acks: Literal["control"] | int
    burst: int
    controlled: bool
    end: str
    flows: int
    frame: str
    gaps: Literal["poisson", "lognormal", "even"]
    hosts: str | Sequence[str]
    load: Required[float]
    name: str
    pairs: Literal["random", "permutation", "all-to-all", "racks"]
    priority: int
    reference: Literal["hosts", "bisection"]
    seed: int
    sigma: float
    size: Required[str | FlowResponse]
    start: str
    transport: Literal["none", "tcp", "go-back-n", "selective"] | FlowTransport
    weight: int


class NetworkEntropy(TypedDict, total=False):
    """``network.entropy`` of a scenario file."""

    backup: int
    denied: Sequence[int]
    overtaken: int
    planes: int
    probe_interval: str
    values: int


class NetworkFeedback(TypedDict, total=False):
    """``network.feedback`` of a scenario file."""

    ideal: Required[str]


class Network(TypedDict, total=False):
    """``network`` of a scenario file."""

    cable_delay: str
    clock_tolerance: str
    congestion_points: Literal["switches", "between-switches", "everywhere"] | Sequence[str]
    control_buffer: str
    convergence: Literal["never"] | str | FlowStart
    ecmp_seed: int
    ecn_at: Literal["arrival", "departure"]
    ecn_by: Literal["queue", "port"]
    ecn_threshold: str
    entropy: NetworkEntropy
    feedback: Literal["in-band"] | NetworkFeedback
    flowlet_gap: str
    host_delay: str
    in_service_counts: bool
    load_balancing: Literal[
        "flow",
        "flowlet",
        "spray",
        "spray-random",
        "adaptive",
        "adaptive-flowlet",
        "reps",
        "mrc",
        "mrc-structured",
    ]
    local_repair: str
    node_delay: str
    node_delay_at: Literal["switches", "hosts", "all"]
    spray_acks: bool
    switch_clocks: Literal["aligned", "own"]
    ties: Literal["number", "in-turn", "drawn"]
    trimming: bool
    wire_overhead: str


class PfcLink(TypedDict, total=False):
    """``pfc.link`` of a scenario file."""

    buffer: str
    headroom: str
    ports: Required[Sequence[str]]
    response: str
    xoff: str
    xon: str


class PfcWatchdogPort(TypedDict, total=False):
    """``pfc.watchdog.port`` of a scenario file."""

    action: Literal["drop", "forward", "alert"]
    after: str
    ports: Required[Sequence[str]]
    restoration: str


class PfcWatchdog(TypedDict, total=False):
    """``pfc.watchdog`` of a scenario file."""

    action: Literal["drop", "forward", "alert"]
    after: str
    poll: str
    port: Sequence[PfcWatchdogPort]
    ports: Literal["all"] | Sequence[str]
    restoration: str


class Pfc(TypedDict, total=False):
    """``pfc`` of a scenario file."""

    buffer: str
    headroom: Literal["auto"] | str
    link: Sequence[PfcLink]
    mtu: str
    ports: Literal["all"] | Sequence[str]
    priorities: Sequence[int]
    quanta: int
    response: str
    watchdog: PfcWatchdog
    xoff: str
    xon: str


class Priority(TypedDict, total=False):
    """``priority`` of a scenario file."""

    burst: str
    dscp: Sequence[int]
    max_rate: str
    pcp: int
    priority: Required[int]
    profile: str
    scheme: SchemeName | str
    weight: int


class Record(TypedDict, total=False):
    """``record`` of a scenario file."""

    arrivals: bool
    interval: str
    most_flows: int
    percentiles: bool
    queues: Literal["used", "switches"] | Sequence[str]
    signals: bool


class Retry(TypedDict, total=False):
    """``retry`` of a scenario file."""

    buffer: Literal["auto"] | str
    links: Literal["all"] | Sequence[str]
    most_replays: int
    priorities: Sequence[int]
    spacing: str
    timer: Literal["auto"] | str


class SchemesAfQcn(ChangeSchemesAfQcn, total=False):
    """``schemes.af-qcn`` of a scenario file."""

    profile: Literal["pan-10g"]


class SchemesAnnulus(ChangeSchemesAnnulus, total=False):
    """``schemes.annulus`` of a scenario file."""

    profile: Literal["pan-10g"]


class SchemesBcn(ChangeSchemesBcn, total=False):
    """``schemes.bcn`` of a scenario file."""

    profile: Literal["paper-efecn"]


class SchemesDcqcn(ChangeSchemesDcqcn, total=False):
    """``schemes.dcqcn`` of a scenario file."""

    profile: Literal[
        "zhu-2015",
        "ns3-rdma",
        "hpcc-mlx",
        "hpcc-25g",
        "hpcc-100g",
        "hpcc-200g",
        "hpcc-400g",
        "hpcc-800g",
        "hpcc-100g-paper",
        "conweave",
        "simai",
        "simai-100g",
        "simai-200g",
        "simai-400g",
        "connectx",
    ]


class SchemesDcqcnWindow(ChangeSchemesDcqcnWindow, total=False):
    """``schemes.dcqcn-window`` of a scenario file."""

    profile: Literal[
        "zhu-2015",
        "ns3-rdma",
        "hpcc-mlx",
        "hpcc-25g",
        "hpcc-100g",
        "hpcc-200g",
        "hpcc-400g",
        "hpcc-800g",
        "hpcc-100g-paper",
        "conweave",
        "simai",
        "simai-100g",
        "simai-200g",
        "simai-400g",
        "connectx",
    ]


class SchemesDctcp(ChangeSchemesDctcp, total=False):
    """``schemes.dctcp`` of a scenario file."""

    profile: Literal["hpcc-25g", "hpcc-ns3", "hpcc-200g", "hpcc-400g", "hpcc-800g"]


class SchemesEfecn(ChangeSchemesEfecn, total=False):
    """``schemes.efecn`` of a scenario file."""

    profile: Literal["paper-efecn"]


class SchemesExpresspass(ChangeSchemesExpresspass, total=False):
    """``schemes.expresspass`` of a scenario file."""

    profile: Literal["slow-start"]


class SchemesFastCnp(ChangeSchemesFastCnp, total=False):
    """``schemes.fast-cnp`` of a scenario file."""

    profile: Literal["zhu-2015", "hpcc-100g-paper"]


class SchemesFecn(ChangeSchemesFecn, total=False):
    """``schemes.fecn`` of a scenario file."""

    profile: Literal["paper-efecn"]


class SchemesFqcn(ChangeSchemesFqcn, total=False):
    """``schemes.fqcn`` of a scenario file."""

    profile: Literal["pan-10g"]


class SchemesHoma(ChangeSchemesHoma, total=False):
    """``schemes.homa`` of a scenario file."""

    profile: Literal["homasimulation-w5"]


class SchemesHpcc(ChangeSchemesHpcc, total=False):
    """``schemes.hpcc`` of a scenario file."""

    profile: Literal["pint", "hpcc-25g", "hpcc-100g", "hpcc-200g", "hpcc-400g", "hpcc-800g"]


class SchemesNdp(ChangeSchemesNdp, total=False):
    """``schemes.ndp`` of a scenario file."""

    profile: Literal["htsim"]


class SchemesNscc(ChangeSchemesNscc, total=False):
    """``schemes.nscc`` of a scenario file."""

    profile: Literal[
        "trimming",
        "mrc",
        "mnscc",
        "htsim-25g",
        "htsim-100g",
        "htsim-200g",
        "htsim-400g",
        "htsim-800g",
    ]


class SchemesPowertcp(ChangeSchemesPowertcp, total=False):
    """``schemes.powertcp`` of a scenario file."""

    profile: Literal[
        "ns3-25g",
        "powertcp-25g",
        "powertcp-100g",
        "powertcp-200g",
        "powertcp-400g",
        "powertcp-800g",
    ]


class SchemesQcn(ChangeSchemesQcn, total=False):
    """``schemes.qcn`` of a scenario file."""

    profile: Literal[
        "ieee-2010",
        "pan-10g",
        "paper-multicast",
        "paper-netfpga",
        "paper-bottleneck",
        "paper-sliding-mode",
    ]


class SchemesQcnAdaptive(ChangeSchemesQcnAdaptive, total=False):
    """``schemes.qcn-adaptive`` of a scenario file."""

    profile: Literal["pan-10g", "paper-bottleneck"]


class SchemesQcnBs(ChangeSchemesQcnBs, total=False):
    """``schemes.qcn-bs`` of a scenario file."""

    profile: Literal["pan-10g", "paper-bottleneck"]


class SchemesQcnBsAdaptive(ChangeSchemesQcnBsAdaptive, total=False):
    """``schemes.qcn-bs-adaptive`` of a scenario file."""

    profile: Literal["pan-10g", "paper-bottleneck"]


class SchemesQcnMulticast(ChangeSchemesQcnMulticast, total=False):
    """``schemes.qcn-multicast`` of a scenario file."""

    profile: Literal["pan-10g", "paper-multicast"]


class SchemesSmcc(ChangeSchemesSmcc, total=False):
    """``schemes.smcc`` of a scenario file."""

    profile: Literal["paper-sliding-mode", "two-stage", "dealbreaker", "scaled-10g"]


class SchemesSwift(ChangeSchemesSwift, total=False):
    """``schemes.swift`` of a scenario file."""

    profile: Literal[
        "slow-host",
        "kumar-2020",
        "lswift",
        "mswift",
        "htsim-25g",
        "htsim-100g",
        "htsim-200g",
        "htsim-400g",
        "htsim-800g",
    ]


class SchemesThetaPowertcp(ChangeSchemesThetaPowertcp, total=False):
    """``schemes.theta-powertcp`` of a scenario file."""

    profile: Literal["ns3-25g"]


class SchemesTimely(ChangeSchemesTimely, total=False):
    """``schemes.timely`` of a scenario file."""

    profile: Literal[
        "mittal-2015",
        "hpcc-25g",
        "hpcc-100g",
        "hpcc-200g",
        "hpcc-400g",
        "hpcc-800g",
        "patched",
    ]


Schemes = TypedDict(
    "Schemes",
    {
        "af-qcn": SchemesAfQcn,
        "annulus": SchemesAnnulus,
        "bcn": SchemesBcn,
        "ci": SchemesCi,
        "dcqcn": SchemesDcqcn,
        "dcqcn-window": SchemesDcqcnWindow,
        "dctcp": SchemesDctcp,
        "e2cm": SchemesE2cm,
        "efecn": SchemesEfecn,
        "expresspass": SchemesExpresspass,
        "fast-cnp": SchemesFastCnp,
        "fecn": SchemesFecn,
        "fqcn": SchemesFqcn,
        "homa": SchemesHoma,
        "hpcc": SchemesHpcc,
        "ici": SchemesIci,
        "ndp": SchemesNdp,
        "none": SchemesNone,
        "nscc": SchemesNscc,
        "powertcp": SchemesPowertcp,
        "qcn": SchemesQcn,
        "qcn-adaptive": SchemesQcnAdaptive,
        "qcn-bs": SchemesQcnBs,
        "qcn-bs-adaptive": SchemesQcnBsAdaptive,
        "qcn-multicast": SchemesQcnMulticast,
        "rocc": SchemesRocc,
        "sfc": SchemesSfc,
        "smcc": SchemesSmcc,
        "swift": SchemesSwift,
        "theta-powertcp": SchemesThetaPowertcp,
        "timely": SchemesTimely,
    },
    total=False,
)
"""``schemes`` of a scenario file."""


class Switch(TypedDict, total=False):
    """``switch`` of a scenario file."""

    cell: str
    chip: Literal[
        "spectrum-1",
        "spectrum-2",
        "spectrum-3",
        "spectrum-4",
        "trident-2",
        "trident-3",
        "tomahawk-1",
        "tomahawk-5",
    ]
    memory: str
    switches: Literal["all"] | str | Sequence[str]


class TestbedApplication(TypedDict, total=False):
    """``testbed.application`` of a scenario file."""

    host: Required[str]
    run: Required[str]
    start: str


class Testbed(TypedDict, total=False):
    """``testbed`` of a scenario file."""

    application: Sequence[TestbedApplication]
    flows: Literal["iperf3", "none"]
    lateness: str
    time_scale: int


class TopologyDragonfly(TypedDict, total=False):
    """``topology.dragonfly`` of a scenario file."""

    buffer: str
    global_delay: str
    global_links: Required[int]
    global_rate: Required[str]
    groups: Required[int]
    host_rate: Required[str]
    hosts_per_switch: Required[int]
    link_delay: str
    local_rate: Required[str]
    routing: Literal["ecmp", "d-mod-k"]
    switches_per_group: Required[int]


class TopologyDumbbell(TypedDict, total=False):
    """``topology.dumbbell`` of a scenario file."""

    bottleneck_delay: str
    bottleneck_rate: Required[str]
    buffer: str
    link_delay: str
    link_rate: Required[str]
    receivers: int
    sources: Required[int]


class TopologyFatTree(TypedDict, total=False):
    """``topology.fat-tree`` of a scenario file."""

    buffer: str
    k: Required[int]
    link_delay: str
    link_rate: Required[str]
    routing: Literal["ecmp", "d-mod-k"]


class TopologyGraphLinkCredits(TypedDict, total=False):
    """``topology.graph.link.credits`` of a scenario file."""

    buffer: str
    cell: str
    priorities: Sequence[int]
    spacing: str
    sync: str


class TopologyGraphLinkDelay(TypedDict, total=False):
    """``topology.graph.link.delay`` of a scenario file."""

    down: Required[str]
    up: Required[str]


class TopologyGraphLink(TypedDict, total=False):
    """``topology.graph.link`` of a scenario file."""

    buffer: str
    cable: str
    credits: TopologyGraphLinkCredits
    delay: str | TopologyGraphLinkDelay
    ends: Required[Sequence[str]]
    join: Literal["each", "blocks", "turns"]
    parallel: int
    rate: Required[str | TopologyGraphLinkDelay]


class TopologyGraphNode(TypedDict, total=False):
    """``topology.graph.node`` of a scenario file."""

    delay: Required[str]
    name: Required[str]


class TopologyGraph(TypedDict, total=False):
    """``topology.graph`` of a scenario file."""

    buffer: str
    hosts: Required[str | Sequence[str]]
    link: Required[Sequence[TopologyGraphLink]]
    node: Sequence[TopologyGraphNode]
    routing: Literal["ecmp", "d-mod-k"]
    switches: Required[str | Sequence[str]]


class TopologyLeafSpine(TypedDict, total=False):
    """``topology.leaf-spine`` of a scenario file."""

    buffer: str
    fabric_delay: str
    fabric_rate: Required[str]
    host_rate: Required[str]
    hosts_per_leaf: Required[int]
    leaves: Required[int]
    link_delay: str
    parallel: int
    routing: Literal["ecmp", "d-mod-k"]
    spines: Required[int]


class TopologyParkingLot(TypedDict, total=False):
    """``topology.parking-lot`` of a scenario file."""

    buffer: str
    hosts_per_switch: int
    link_delay: str
    link_rate: Required[str]
    switches: Required[int]
    trunk_delay: str
    trunk_rate: Required[str]


class TopologyStar(TypedDict, total=False):
    """``topology.star`` of a scenario file."""

    buffer: str
    hosts: Required[int]
    link_delay: str
    link_rate: Required[str]


Topology = TypedDict(
    "Topology",
    {
        "dragonfly": TopologyDragonfly,
        "dumbbell": TopologyDumbbell,
        "fat-tree": TopologyFatTree,
        "graph": TopologyGraph,
        "leaf-spine": TopologyLeafSpine,
        "parking-lot": TopologyParkingLot,
        "star": TopologyStar,
    },
    total=False,
)
"""``topology`` of a scenario file."""


class Trace(TypedDict, total=False):
    """``trace`` of a scenario file."""

    acks: Literal["control"] | int
    controlled: bool
    flows: Required[str]
    frame: str
    name: str
    priority: int
    transport: Literal["none", "tcp", "go-back-n", "selective"] | FlowTransport
    weight: int


class Window(TypedDict, total=False):
    """``window`` of a scenario file."""

    end: str
    name: Required[str]
    start: Required[str]


class Wred(TypedDict, total=False):
    """``wred`` of a scenario file."""

    ecn: bool
    max: Required[str]
    min: Required[str]
    ports: Literal["all"] | Sequence[str]
    priorities: Sequence[int]
    probability: float


class Document(TypedDict, total=False):
    """A scenario file."""

    buffer: Sequence[Buffer]
    burst: Sequence[Burst]
    change: Sequence[Change]
    collective: Sequence[Collective]
    credits: Sequence[Credits]
    duration: Required[str]
    event: Sequence[Event]
    flow: Sequence[Flow]
    group: Sequence[Group]
    host: Sequence[Host]
    hosts: Hosts
    impaired_is_lost: bool
    impairment: Sequence[Impairment]
    incast: Sequence[Incast]
    job: Sequence[Job]
    load: Sequence[Load]
    lossless: bool
    name: str
    network: Network
    pfc: Pfc
    priority: Sequence[Priority]
    question: Required[str]
    record: Record
    require_action: bool
    retry: Sequence[Retry]
    scheme: Required[SchemeName | str]
    schemes: Schemes
    seed: int
    switch: Sequence[Switch]
    testbed: Testbed
    topology: Required[Topology]
    trace: Sequence[Trace]
    until: Literal["duration", "all-flows-complete"]
    warmup: str
    window: Sequence[Window]
    wred: Sequence[Wred]
