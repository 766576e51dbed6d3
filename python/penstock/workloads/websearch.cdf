# Web search: flow sizes as Li et al. 2019 (HPCC) use them; measured by Alizadeh et al. 2010 (DCTCP).
# Repository: https://github.com/alibaba-edu/High-Precision-Congestion-Control, file traffic_gen/WebSearch_distribution.txt
# Columns: flow size in octets; share of the flows that are at most as long, in percent.
0 0
10000 15
20000 20
30000 30
50000 40
80000 53
200000 60
1000000 70
2000000 80
5000000 90
10000000 97
30000000 100
