"""The idea of QCN (IEEE 802.1Qau) in 60 lines: `penstock run SCENARIO --scheme examples/foreign/qcn.py:QcnLike`.

The scheme `qcn` is the standard's: it samples more often where the queue is long, has jitter, and counts its cycles
by octets and by a timer apart from one another.
"""

import penstock


class QcnLike(penstock.Scheme):
    """Queues send feedback to sources, which cut their rate by it and come back by halves of the way."""

    name, signals, raises_on_signal, set_point = "qcn-like", "backward", False, "q_eq"
    source = "after IEEE 802.1Qau-2010, clauses 30.2 and 30.3"
    actions = ("notifications", "cuts", "raises")
    parameters = {
        "q_eq": penstock.Parameter("threshold", "33 KB", "1 KB", "1 GB", description="Length to hold."),
        "w": penstock.Parameter("count", 2, 0, 16, description="Weight of the growth of the queue."),
        "interval": penstock.Parameter("octets", "150 KB", "1 KB", "10 MB", description="Octets to a sample."),
        "gd": penstock.Parameter("ratio", 0.5, 0, 1, description="Part of the rate that the largest feedback takes."),
        "byte_reset": penstock.Parameter("octets", "150 KB", "1 KB", "100 MB", description="Octets of a cycle."),
        "timer": penstock.Parameter("s", "15 ms", "10 us", "1 s", description="Time after which a cycle ends, too."),
        "r_ai": penstock.Parameter("bit/s", "5 Mbps", "0 bps", "1 Gbps", description="Growth of the target rate."),
    }

    class CongestionPoint(penstock.CongestionPoint):
        octets, before = 0, 0

        def on_arrival(self, frame, queue):
            self.octets += frame.octets
            if self.octets < self.p.interval:
                return
            self.octets = 0
            over = queue.octets - self.p.q_eq + self.p.w * (queue.octets - self.before)
            self.before = queue.octets
            if over > 0:
                worst = self.p.q_eq * (2 * self.p.w + 1)
                self.send(frame.flow, max(min(64 * over // worst, 63), 1))

    class ReactionPoint(penstock.ReactionPoint):
        target, octets, cycle = 0, 0, 0

        def on_signal(self, signal):
            if self.cycle or not self.limiting:
                self.target = self.rate
            self.rate = max(int(self.rate * (1 - self.p.gd * signal.word[0] / 63)), 10_000_000)
            self.limiting, self.octets, self.cycle = True, 0, 0
            self.timeout = signal.now + self.p.timer

        def on_send(self, release):
            if self.limiting:
                self.octets += release.octets
                if self.octets >= self.p.byte_reset:
                    self.octets = 0
                    self.increase()

        def on_timer(self, now):
            self.increase()
            if self.limiting:
                self.timeout = now + self.p.timer

        def increase(self):
            self.cycle += 1
            if self.cycle > 5:
                self.target = min(self.target + self.p.r_ai, self.line)
            self.rate = min((self.rate + self.target + 1) // 2, self.line)
            self.limiting = self.rate < self.line
