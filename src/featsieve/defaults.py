"""Every constant that can change an answer: its value, the reason, the data it was chosen on.

Tolerances against rounding and sizes of blocks do not change answers; they stand where they are
used. Parameters of the estimators have their defaults in their signatures.
"""

# criteria -----------------------------------------------------------------------------------------

# graphs -------------------------------------------------------------------------------------------

# jasfs --------------------------------------------------------------------------------------------

# selectors ----------------------------------------------------------------------------------------

# solvers ------------------------------------------------------------------------------------------

# tuning, workflow, report -------------------------------------------------------------------------
