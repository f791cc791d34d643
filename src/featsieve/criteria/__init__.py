"""Label-free criteria: plain functions that say how many, how well, and whether at all."""
