"""DCQCN (Zhu et al. 2015) as a class in Python: `penstock run SCENARIO --scheme examples/foreign/dcqcn.py:Dcqcn`.

It gives the numbers of the scheme `dcqcn`. Rates are rounded as there, and alpha has 30 fraction bits.
"""

import penstock

count, rate, ratio, time = (
    lambda *own, unit=unit: penstock.Parameter(unit, *own)
    for unit in ("count", "bit/s", "ratio", "s")
)
ONE = 1 << 30


class Dcqcn(penstock.Scheme):
    """Switches mark frames, destinations answer marks, sources cut their rate by how often that happens."""

    name, signals, signal_octets, draws = "dcqcn-py", "by destination", 78, 1
    source, ecn, recovers_alone, raises_on_signal = "Zhu et al. 2015", True, True, False
    actions = ("marks", "notifications", "cuts", "raises")
    parameters = {
        "k_min": penstock.Parameter("threshold", "10 KB", "0 B", "2147483647 B"),
        "k_max": penstock.Parameter("threshold", "100 KB", "100 B", "2147483647 B"),
        "p_max": ratio(0.1, 0, 1),
        "cnp_interval": time("50 us", "0 s", "1 s"),
        "g_inverse": count(256, 1, 65536),
        "alpha0": ratio(1, 0, 1),
        "alpha_time": time("55 us", "1 us", "1 s"),
        "f": count(5, 1, 1000),
        "byte_reset": penstock.Parameter("octets", "10 MB", "64 B", "1000 GB"),
        "time_reset": time("55 us", "1 us", "1000 s"),
        "r_ai": rate("10 Mbps", "0 bps", "1 Tbps"),
        "r_hai": rate("50 Mbps", "0 bps", "1 Tbps"),
        "min_rate": rate("10 Mbps", "1 kbps", "1 Tbps"),
    }
    cp_variables = {"marked_frames_total": "frames marked since the start"}
    rp_variables = {
        "target_rate_bps": "target rate RT, bit/s",
        "alpha_ppm": "alpha when it was last used, millionths",
        "byte_stage": "cycles of the byte counter since the last cut",
        "time_stage": "cycles of the timer since the last cut",
    }

    class CongestionPoint(penstock.CongestionPoint):
        marked, ramp = 0, None

        def set_thresholds(self, low, high, probability):
            self.ramp = low, high, probability

        def mark(self, frame, octets):
            low, high, most = self.ramp or (self.p.k_min, self.p.k_max, self.p.p_max)
            if octets <= low:
                return False
            if octets <= high and self.draw() * (high - low) >= int(most * 2**32) * (
                octets - low
            ):
                return False
            self.marked += 1
            return True

        def variables(self):
            return (self.marked,)

    class NotificationPoint(penstock.NotificationPoint):
        after = 0

        def on_frame(self, frame):
            if frame.marked and frame.now >= self.after:
                self.after = frame.now + self.p.cnp_interval
                self.send(frame.flow, octets=78)

    class ReactionPoint(penstock.ReactionPoint):
        octets, byte_stage, time_stage = 0, 0, 0
        alpha_at = None  # Alpha is right up to alpha_at + alpha_time; never before the first notification.

        def __init__(self, p, line):
            self.target = line
            self.configure(p)

        def configure(self, p):
            self.p = p
            if self.alpha_at is None:
                self.alpha = int(p.alpha0 * ONE + 0.5)
            self.use(max(self.rate, min(p.min_rate, self.line)))
            self.target = max(self.target, self.rate)

        def use(self, rate):
            self.rate, self.limiting = rate, rate < self.line
            if not self.limiting:
                self.timeout = None

        def on_signal(self, signal):
            p, g = self.p, self.p.g_inverse
            while (
                self.alpha_at is not None
                and self.alpha_at + p.alpha_time <= signal.now
                and self.alpha >= g
            ):
                self.alpha -= (
                    self.alpha // g
                )  # Equation (2), for each interval without notification.
                self.alpha_at += p.alpha_time
            self.target, self.timeout = self.rate, signal.now + p.time_reset
            self.use(
                max(
                    self.rate - (self.rate * self.alpha >> 31),
                    min(p.min_rate, self.line),
                )
            )  # Equation (1).
            self.alpha, self.alpha_at = (
                self.alpha + ONE // g - self.alpha // g,
                signal.now,
            )
            self.octets, self.byte_stage, self.time_stage = 0, 0, 0

        def on_send(self, release):
            if self.limiting:
                self.octets += release.octets
                if self.octets >= self.p.byte_reset:
                    self.octets, self.byte_stage = 0, self.byte_stage + 1
                    self.increase()

        def on_timer(self, now):
            self.time_stage, self.timeout = self.time_stage + 1, now + self.p.time_reset
            self.increase()

        def increase(self):
            slow, fast = (
                min(self.byte_stage, self.time_stage),
                max(self.byte_stage, self.time_stage),
            )
            if slow > self.p.f:
                self.target += self.p.r_hai * (slow - self.p.f)
            elif fast >= self.p.f:
                self.target += self.p.r_ai
            self.use(min(self.rate + (self.target - self.rate + 1) // 2, self.line))

        def variables(self):
            return (
                self.target,
                self.alpha * 1_000_000 >> 30,
                self.byte_stage,
                self.time_stage,
            )
