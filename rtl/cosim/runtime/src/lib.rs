//! Links the parts of Verilator that its C++ calls; there is nothing to use.
