//! Links what Verilator's C++ calls; there is nothing to use.
