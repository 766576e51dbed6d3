"""After an outage flows come back in the time that their own rules give: any scheme, transport and load balancing."""

import pytest

from penstock import Scenario

TEXT = """
question = "Do flows come back after an outage?"
duration = "80 ms"
scheme = "SCHEME"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "1 Gbps"
fabric_rate = "10 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[network]
load_balancing = "BALANCING"
convergence = "never"
TRIMMING
[record]
interval = "1 ms"
[[flow]]
name = "f0..f3"
from = "h0..h3"
to = "h4..h7"
transport = TRANSPORT
[[change]]
link = "leaf0--spine0"
at = "5 ms"
state = "down"
[[change]]
link = "leaf0--spine0"
at = "9 ms"
state = "up"
[[window]]
name = "before"
start = "3 ms"
end = "5 ms"
[[window]]
name = "after"
start = "END"
"""

# When everything is back, ms, by the rules of each. The selective transport's timer does not double (320 us); TCP's
# goes from 10 to 20 ms in the 4 ms of the outage, at the most; go-back-n's is 500 us. The silence of octets in flight
# doubles from 1 to 4 ms.
TRANSPORTS = {
    "selective": ("{ selective = { reordering = 64 } }", 25),
    "go-back-n": ('"go-back-n"', 25),
    "tcp": ('{ tcp = { rto_min = "10 ms" } }', 50),
}
# And the rates: a queue that stood for 4 ms has brought them to the least. From there TIMELY rises in steps of 10 Mb/s,
# five at a time from the fifth on, and QCN by five cycles of 15 ms and the steps after them.
RATES = {"timely": 150, "qcn": 150}
SCHEMES = ("none", "dctcp", "hpcc", "swift", "nscc", "dcqcn", "timely", "qcn")
BALANCING = ("flow", "flowlet", "spray", "spray-random", "adaptive")


@pytest.mark.parametrize("balancing", BALANCING)
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_flows_come_back_after_an_outage(scheme: str, transport: str, balancing: str) -> None:
    if transport == "go-back-n" and balancing not in ("flow", "flowlet"):
        pytest.skip("refused: each late frame would be a loss")
    written, end_ms = TRANSPORTS[transport]
    end_ms = max(end_ms, RATES.get(scheme, 0))
    trimming = "trimming = true" if scheme == "nscc" and transport != "tcp" else ""
    text = TEXT.replace("SCHEME", scheme).replace("BALANCING", balancing).replace("TRANSPORT", written)
    text = text.replace("TRIMMING", trimming).replace("80 ms", f"{end_ms + 20} ms").replace("END", f"{end_ms} ms")
    result = Scenario.from_toml(text).run()
    before, after = result.summary["windows"]
    for then, now in zip(before["flows"], after["flows"], strict=True):
        share = now["throughput_bps"] / then["throughput_bps"]
        assert share > 0.9, (
            f"{now['name']}: {now['throughput_bps'] / 1e6:.0f} of {then['throughput_bps'] / 1e6:.0f} Mb/s"
        )
