# Storage over Solar at Alibaba: published with the simulator of Song et al. 2023 (ConWeave); Miao et al. 2022 describe Solar.
# Repository: https://github.com/conweave-project/conweave-ns3, file traffic_gen/Solar2022.txt
# Columns: flow size in octets; share of the flows that are at most as long, in percent.
0 0
4095 0.001
4096 30.0
16383 35.0
16384 50.0
65535 60.0
65536 95.0
262144 100.0
