"""DCTCP (RFC 8257) as a class in Python: `penstock run SCENARIO --scheme examples/foreign/dctcp.py:Dctcp`."""

import penstock


class Dctcp(penstock.Scheme):
    name, ecn, raises_on_signal, actions = "dctcp-py", True, False, ("marks", "cuts", "raises")
    parameters = {"k": penstock.Parameter("threshold", "97.5 KB", "64 B", "1 GB", source="Alizadeh et al. 2010")}

    class CongestionPoint(penstock.CongestionPoint):
        def mark(self, frame, octets):
            return octets > self.p.k

    class NotificationPoint(penstock.NotificationPoint):
        def acknowledge(self, frame):
            return True

    class ReactionPoint(penstock.ReactionPoint):
        window, ssthresh, alpha, cut = 15_000, 1 << 63, 1 << 30, -1
        sent = settled = end = acked = marked = towards = 0

        def on_send(self, release):
            self.sent += release.octets

        def on_ack(self, ack):
            self.settled, self.acked = self.settled + ack.acked + ack.lost, self.acked + ack.acked
            self.marked += ack.acked * ack.marked
            if self.settled > self.end:  # A window has passed: RFC 8257, section 3.3.
                self.alpha += (self.marked << 30) // max(self.acked, 1) // 16 - self.alpha // 16
                self.acked, self.marked, self.end = 0, 0, self.sent
            if (ack.lost or ack.marked) and self.settled > self.cut:  # Once a window.
                cut = (self.window + 1) // 2 if ack.lost else self.window * self.alpha >> 31
                self.window = self.ssthresh = max(self.window - cut, 3000)
                self.towards, self.cut, self.limiting = 0, self.sent, True
            elif not ack.marked and self.sent - self.settled + ack.acked >= self.window // 2:
                slow = self.window < self.ssthresh
                self.towards += ack.acked * (not slow)
                if step := self.towards >= self.window:
                    self.towards -= self.window
                self.window += 1500 * step or ack.acked * slow

        def on_silence(self, now, flow, lost):
            self.settled, self.ssthresh = self.settled + lost, max(self.window // 2, 3000)
            self.window, self.towards, self.cut, self.limiting = 1500, 0, self.sent, True
