"""Many label hypotheses of one table: how they are made, and what they say together.

- :mod:`~featsieve.hypotheses.views`: a view of the samples, and clusters of it
- :mod:`~featsieve.hypotheses.families`: families of views, and how far each is believed
- :mod:`~featsieve.hypotheses.sparse_kmeans`: clusters and weights of the columns in turn
- :mod:`~featsieve.hypotheses.tables`: ranks, and copies of a table without clusters
- :mod:`~featsieve.hypotheses.pool`: agreement, the target of the features, the consensus
"""
