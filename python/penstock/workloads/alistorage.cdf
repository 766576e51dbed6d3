# Distributed storage at Alibaba, 2019: published with the simulator of Li et al. 2019 (HPCC).
# Repository: https://github.com/alibaba-edu/High-Precision-Congestion-Control, file traffic_gen/AliStorage2019.txt
# Columns: flow size in octets; share of the flows that are at most as long, in percent.
0 0
4000 22.93
8000 69.21
16000 80.61
32000 90.47
64000 93.53
128000 96.77
256000 97.53
2000000 100
