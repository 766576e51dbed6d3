"""`penstock theory phase` and `penstock theory figures`: phase portraits, of a scenario and of paper 004."""
