"""A window by marks, additive increase and multiplicative decrease: `--scheme examples/foreign/aimd.py:Aimd`."""

import penstock


class Aimd(penstock.Scheme):
    """A mark cuts the window, once a round trip; without marks it grows by a segment a round trip."""

    name, ecn, raises_on_signal, actions = "aimd-py", True, False, ("marks", "cuts", "raises")
    parameters = {
        "k": penstock.Parameter("threshold", "30 KB", "64 B", "1 GB", description="A longer queue marks."),
        "beta": penstock.Parameter("ratio", 0.5, 0.01, 1, description="Part of the window that a mark leaves."),
        "segment": penstock.Parameter("octets", "1500 B", "64 B", "9 KB", description="Growth of the window."),
    }

    class CongestionPoint(penstock.CongestionPoint):  # At each output queue.
        def mark(self, frame, octets):
            return octets > self.p.k

    class NotificationPoint(penstock.NotificationPoint):  # At the destination of each flow.
        def acknowledge(self, frame):
            return True

    class ReactionPoint(penstock.ReactionPoint):  # At the source of each flow.
        window, sent, settled, cut = 15_000, 0, 0, 0

        def on_send(self, release):
            self.sent += release.octets

        def on_ack(self, ack):
            self.settled += ack.acked + ack.lost
            if ack.marked or ack.lost:
                if self.settled > self.cut:  # The frame left after the last cut.
                    self.window = max(int(self.window * self.p.beta), self.p.segment)
                    self.cut, self.limiting = self.sent, True
            else:
                self.window += self.p.segment * ack.acked // self.window

        def on_silence(self, now, flow, lost):
            self.settled += lost
            self.window = self.p.segment
