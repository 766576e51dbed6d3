//! NCCL's choice of algorithm and protocol, by its cost model.
