"""QCN (IEEE 802.1Qau) as a class in Python: `penstock run SCENARIO --scheme examples/foreign/qcn_802_1qau.py:Qcn`.

It gives the numbers of the scheme `qcn` with the readings of its profiles `pan-10g` and `ieee-2010`. The state is of
whole numbers: rates and halves of cycles are rounded down.
"""

import penstock

count, rate, ratio = (
    lambda *own, unit=unit: penstock.Parameter(unit, *own)
    for unit in ("count", "bit/s", "ratio")
)


def choice(*words):
    return penstock.Parameter("choice", words[0], words=words)


def spread(base, share, word):
    """Spread a number evenly by a share of it, with 16 fraction bits."""
    fraction = int(share * 65536 + 0.5)
    return base * (65536 - fraction) + (base * fraction * 2 * word >> 32) >> 16


def within_32_bits(x):
    return max(min(x, 2**31 - 1), -(2**31)) % 2**64


class Qcn(penstock.Scheme):
    """Queues sample frames and send their sources |Fb|; sources cut their rate and recover it by counter and timer."""

    name, source, signals, set_point, draws = (
        "qcn-py",
        "IEEE 802.1Qau-2010",
        "backward",
        "q_eq",
        1,
    )
    recovers_alone, raises_on_signal, actions = (
        True,
        False,
        ("notifications", "cuts", "raises"),
    )
    parameters = {
        "q_eq": penstock.Parameter("threshold", "26 KB", "100 B", "4294967295 B"),
        "w": ratio(2, 0, 1024),
        "sample_base": penstock.Parameter("octets", "150 KB", "10 KB", "1 GB"),
        "sample_table": choice("paper", "harmonic"),
        "sample_jitter": ratio(0.15, 0, 0.99),
        "gd_inverse": count(128, 64, 65536),
        "rpg_min_dec_fac": count(50, 1, 100),
        "rpg_threshold": count(5, 1, 1000),
        "fr_cycles": choice("threshold", "threshold-less-one"),
        "timer_on": penstock.Parameter("switch", True),
        "rpg_time_reset": penstock.Parameter(
            "s", "15 ms", "1 us", "1000 s", when="timer_on = true"
        ),
        "cycle_halving": choice("per-counter", "hai-only"),
        "rp_jitter": ratio(0.15, 0, 0.99),
        "rpg_ai_rate": rate("5 Mbps", "0 bps", "1 Tbps"),
        "rpg_hai_rate": rate("50 Mbps", "0 bps", "1 Tbps"),
        "hai_multiplier": choice("min-count", "min-count-plus-one"),
        "rpg_min_rate": penstock.Parameter(
            "bit/s", "5 Mbps", "1 kbps", "1 Tbps", bound="at most line"
        ),
        "rpg_max_rate": rate("0 bps", "0 bps", "10 Tbps"),  # 0 for the line's.
        "rpg_byte_reset": penstock.Parameter("octets", "150 KB", "64 B", "10 GB"),
        "rl_create": choice("above-set-point", "any"),
    }
    profiles = {
        "ieee-2010": penstock.Profile(
            "IEEE 802.1Qau-2010 with the defaults of its MIB.",
            {
                "q_eq": "26 KB",
                "sample_table": "harmonic",
                "fr_cycles": "threshold-less-one",
                "cycle_halving": "hai-only",
                "hai_multiplier": "min-count-plus-one",
                "rl_create": "any",
            },
        ),
        "pan-10g": penstock.Profile(
            "R. Pan's pseudo-code at 10 Gb/s.", {"q_eq": "33 KB"}
        ),
    }
    cp_variables = {
        "fb": "quantised |Fb| of the last sample, 0 to 63",
        "q_old_octets": "queue length that the next q_delta refers to, octets",
    }
    rp_variables = {
        "target_rate_bps": "target rate TR, bit/s",
        "byte_stage": "cycles of the byte counter since the last notification",
        "time_stage": "cycles of the timer since the last notification",
    }

    class CongestionPoint(penstock.CongestionPoint):
        fb, q_old = 0, 0

        def __init__(self, p, place):
            self.left, self.cp = p.sample_base, place.cp

        def on_arrival(self, frame, queue):
            self.left -= frame.octets
            if self.left >= 0:
                return
            p, w = self.p, int(self.p.w * 1024 + 0.5)
            off, delta = queue.octets - p.q_eq, queue.octets - self.q_old
            most = (2 * w + 1024) * p.q_eq
            self.fb = max(min(off * 1024 + w * delta, most), 0) * 63 // most
            if self.fb:
                self.send(
                    frame.flow,
                    self.fb,
                    within_32_bits(off),
                    within_32_bits(delta),
                    self.cp,
                )
            row, self.q_old = self.fb // 8, queue.octets
            paper = (150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_500, 18_500)
            harmonic = p.sample_table == "harmonic"
            interval = (
                p.sample_base // (row + 1)
                if harmonic
                else p.sample_base * paper[row] // 150_000
            )
            self.left = spread(interval, p.sample_jitter, self.draw())

        def variables(self):
            return self.fb, self.q_old

    class ReactionPoint(penstock.ReactionPoint):
        def __init__(self, p, line):
            self.configure(p)

        def configure(self, p):
            self.p = p
            self.most = min(p.rpg_max_rate or self.line, self.line)
            self.least = min(p.rpg_min_rate, self.most)
            self.last = p.rpg_threshold - (p.fr_cycles == "threshold-less-one")
            if not self.limiting:
                self.release()
                return
            self.rate, self.target = (
                min(max(self.rate, self.least), self.most),
                max(self.target, self.least),
            )
            if not p.timer_on:
                self.time_stage, self.timeout = 0, None

        def release(self):
            """Go back to the largest rate, without a limiter."""
            self.rate = self.target = self.most
            self.limiting, self.timeout, self.left = False, None, self.p.rpg_byte_reset
            self.byte_stage = self.time_stage = 0

        def on_signal(self, signal):
            p, (fb, off, *_), before = self.p, signal.word, self.rate
            if not self.limiting and p.rl_create != "any" and not 0 < off < 2**63:
                return
            kept = max(
                before * (p.gd_inverse - fb) // p.gd_inverse,
                before * p.rpg_min_dec_fac // 100,
            )
            self.limiting, self.rate = True, max(kept, self.least)
            if (
                self.byte_stage
            ):  # Else Extra Fast Recovery keeps target rate and byte counter.
                self.target, self.left = before, p.rpg_byte_reset
            self.byte_stage = self.time_stage = 0
            self.timeout = signal.now + p.rpg_time_reset if p.timer_on else None

        def increase(self):
            p, slow, fast = (
                self.p,
                min(self.byte_stage, self.time_stage),
                max(self.byte_stage, self.time_stage),
            )
            if 1 in (self.byte_stage, self.time_stage) and self.target > 10 * self.rate:
                self.target //= 8  # Target Rate Reduction.
            elif slow > self.last:
                stages = slow + (p.hai_multiplier == "min-count-plus-one")
                self.target += p.rpg_hai_rate * max(stages - p.rpg_threshold, 1)
            elif fast > self.last:
                self.target += p.rpg_ai_rate
            self.rate = min(max((self.rate + self.target) // 2, self.least), self.most)

        def cycle(self, full, stage):
            """Return the length of a cycle after number ``stage`` of its counter."""
            late = min(self.byte_stage, self.time_stage) > self.last
            halved = (
                late
                if self.p.cycle_halving == "hai-only"
                else stage >= self.p.rpg_threshold
            )
            return spread(full // 2 if halved else full, self.p.rp_jitter, self.draw())

        def on_send(self, release):
            if not self.limiting:
                return
            if self.rate == self.most:
                self.release()
                return
            self.left -= release.octets
            if self.left < 0:
                self.byte_stage += 1
                self.increase()
                self.left = self.cycle(self.p.rpg_byte_reset, self.byte_stage)

        def on_timer(self, now):
            self.time_stage += 1
            self.increase()
            self.timeout = now + max(
                self.cycle(self.p.rpg_time_reset, self.time_stage), 1
            )

        def variables(self):
            return self.target, self.byte_stage, self.time_stage
