"""Theta-PowerTCP (Addanki et al., NSDI 2022, algorithm 2), which needs nothing from switches, as a class in Python.

Power is the load of the bottleneck, 1 + dRTT/dt, times the round-trip time by its base. Once a round trip the window
goes towards window / power + beta. The queue of a bottleneck rests at the sum of its flows' beta.
"""

import penstock


class ThetaPowerTCP(penstock.Scheme):
    name, source, raises_on_signal = "theta-powertcp-py", "Addanki et al., NSDI 2022, algorithm 2", False
    parameters = {
        "gamma": penstock.Parameter("ratio", 0.9, 0.01, 1, source="powertcp-linux", description="Weight of a window."),
        "flows": penstock.Parameter("count", 10, 1, 10000, source="powertcp-linux: N of beta = line x base / N"),
        "load": penstock.Parameter("ratio", 0.5, 0.01, 1, source="rdma-hw.cc", description="Least load."),
        "segment": penstock.Parameter("octets", "1500 B", "64 B", "9 KB", source="powertcp-linux: least window"),
    }

    class NotificationPoint(penstock.NotificationPoint):
        def acknowledge(self, frame):
            return True

    class ReactionPoint(penstock.ReactionPoint):
        sent = settled = end = at = 0
        power = 1.0

        def on_round_trip(self, ps):
            self.base = self.rtt = ps
            self.window = self.most = self.line * ps / 8e12

        def on_start(self, now, flow):
            self.at = now

        def on_send(self, release):
            self.sent += release.octets

        def on_silence(self, now, flow, lost):
            self.settled += lost

        def on_ack(self, ack):
            self.settled += ack.acked + ack.lost
            gap = max(ack.now - self.at, 1)
            power = max(1 + (ack.rtt - self.rtt) / gap, self.p.load) * ack.rtt / self.base
            self.power += (power - self.power) * min(gap / self.base, 1)
            self.rtt, self.at = ack.rtt, ack.now
            if self.settled > self.end:  # Once a round trip: the frame left under this window.
                aim = self.window / self.power + self.most / self.p.flows
                self.window += self.p.gamma * (aim - self.window)
                self.window = min(max(self.window, self.p.segment), self.most)
                self.rate, self.limiting = self.line * self.window / self.most, self.window < self.most
                self.end = self.sent
