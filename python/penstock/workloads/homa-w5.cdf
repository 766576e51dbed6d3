# W5 of Montazeri et al. 2018 (Homa): web search, measured by Alizadeh et al. 2010 (DCTCP), in packets of 1442 octets of data.
# Repository: https://github.com/PlatformLab/HomaSimulation, file DCTCP_MsgSizeDist.txt of homatransport/sizeDistributions
# Columns: message size in octets; share of the messages that are at most as long, in percent. There is none from 4.8 to 9.6 MB.
0 0
8652 15
18746 20
27398 30
47586 40
76426 53
191786 60
961814 70
1922186 80
4806186 90
9613814 90
28840000 100
