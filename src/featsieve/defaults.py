"""Every constant that can change an answer: its value, the reason, the data it was chosen on.

Tolerances against rounding and sizes of blocks do not change answers; they stand where they are
used. Parameters of the estimators have their defaults in their signatures. What halving and
doubling each of them does is in benchmarks/results: constants.md, hypotheses.md (on real tables),
hypotheses_others.md, calibration_clusters_constants.md.
"""

# criteria -----------------------------------------------------------------------------------------

# Of longer tables, a random part of so many samples is looked at by every label-free criterion: an
# exact neighbour graph costs the square of their number.
# Chosen on: no data: a limit on time.
CRITERION_SAMPLES = 5000

# Rows among which the nearest fill missing values, and which a model then holds.
# Chosen on: no data: the size of models.
DONOR_ROWS = 5000

# Samples among which k-means looks for centres when selections are judged (all samples are assigned
# to them afterwards), and the least number of them per cluster.
# Chosen on: the time of palm, of 100 classes, where choosing cost more than five fits.
KMEANS_SAMPLES = 1000
KMEANS_SAMPLES_PER_CLUSTER = 10

# Numbers of features at which a ranking is judged, about evenly spread in their logarithm; tables
# of few features are judged at every small number as well.
# Chosen on: no data: sizes that papers report. Finer grids were not compared.
PATH_SIZES = (5, 10, 20, 30, 50, 80, 100, 150, 200, 300, 400)
NARROW_TABLE = 50
EVERY_SIZE_BELOW = 10

# Values of a criterion that differ by no more standard errors are called nearly equal.
# Chosen on: no data: two standard errors, by convention.
EQUIVALENT_STANDARD_ERRORS = 2.0

# Loss of the criterion that is accepted for fewer features, or a standard error where that is more.
# Chosen on: an earlier study on the development sets; docs/results/label_free.md shows the regret.
CRITERION_TOLERANCE = 0.01

# Numbers of clusters that are tried: every one up to 10, then in steps of 15 % up to 60, with at
# least three samples per cluster. The answer is right within a factor of two at best, so that finer
# steps would not help.
# Chosen on: no data: most development sets have 2 to 40 classes.
MAX_CLUSTERS = 60
MIN_CLUSTER_SIZE = 3
EVERY_COUNT_UP_TO = 10
COUNT_RATIO = 1.15

# Samples that are looked at to count clusters.
# Chosen on: no data: a limit on time.
COUNT_SAMPLES = 600

# Power of the accuracy by which the modularity of clusters is multiplied: more prefers fewer
# clusters.
# Chosen on: the 41 development sets and the wines, among many variants: a square is about as good.
COUNT_POWER = 3

# Numbers of clusters at which sparse clusterings choose columns before clusters are counted, for
# each of SPARSE_COLUMNS, and how often they choose: neither too few nor too many for any number.
# Chosen on: planted tables, on which (5, 10) and (10, 10) do nearly as well.
COUNT_FIRST = (5, 20)
COUNT_ROUNDS = 3

# Scores of numbers that differ by no more than this share of the best are called equal; agreement
# that exceeds chance by no more is chance; halves of the columns show clusters more clearly than
# all of them if they score higher by more.
# Chosen on: planted tables, on which 0.05 and 0.15 do nearly as well; half and double of it do not
# change how often the number is right on the development sets.
COUNT_TOLERANCE = 0.1

# Where the hat family is credible among these rows and the table has so many times more rows than
# cells: cells of rows nearest to one of N_CELLS rows, whose means form the hypotheses.
# Chosen on: MNIST (70,000 rows) and planted tables.
N_CELLS = 2000
ROWS_PER_CELL = 20

# The number of clusters is reported with a range of this factor to either side.
# Chosen on: no data: true for 29 to 33 of the 41 development sets, by the random state.
COUNT_UNCERTAINTY = 2.0

# In tables with so many rows for each column, a larger number counts whose clusters all lie apart
# in plain distances. Elsewhere few rows say little about the directions of columns.
# Chosen on: no data; planted spreadsheets have 10 to 50.
COUNT_ROWS_PER_COLUMN = 2

# Two clusters touch where no more of the variance across them lies between them than between the
# halves of a uniform strip, which has none: 1 - 1/4.
# Chosen on: no data. (Planted spreadsheets: 0.7 counts more of them wrong, 0.8 and 0.85 none more.)
COUNT_STRIP_SHARE = 0.75

# The structure test groups samples into these numbers, on the table and on so many copies without
# clusters of each kind (19 are the fewest that can be significant at 0.05); groups have at least so
# many samples in the mean.
# Chosen on: null tables and tables with 2 to 10 clusters of other random states than those of
# benchmarks/calibration.py: 4 alone misses two clusters, more numbers only take longer.
STRUCTURE_NUMBERS = (2, 4, 8)
STRUCTURE_GROUP = 5
STRUCTURE_TABLES = 19
STRUCTURE_LEVEL = 0.05

# Where no more than so many times the level is reached by these copies, and the table is not
# clearly beyond them, so many times as many decide.
# Chosen on: no data: of a table that 2 % of all copies reach, one of 19 does so in every third
# test, and more than 4 of 99 in one of twenty.
CLOSE_LEVELS = 4
STRUCTURE_MORE = 5

# Where a table is by so many deviations beyond its copies, nothing more is compared: with permuted
# ones first the variance of leading components, then, as with rotated ones, groupings into 4.
# Chosen on: no data.
CLEARLY_BEYOND = 6.0

# Agreements (mutual information) are compared in units of their spread over the copies, or of this
# if that is less. Below so many rows, a table without a verdict of clusters is said to be small.
# Chosen on: planted tables of 60 rows, in which half of the columns agreed by 0.10 in one copy and
# by next to nothing in the others; no data (rows).
LEAST_SPREAD = 0.05
STRUCTURE_FEW = 30

# Columns fall into two parts if more than this share of their values are distinct: those of few
# values do so by themselves.
# Chosen on: a set of cells and binary planted tables, whose clusters two-valued columns hid.
DISTINCT_SHARE = 0.5

# In tables of up to so many columns the structure test compares valleys between k-means clusters,
# for these numbers, with those of rotated copies: the density has this width (in deviations of both
# clusters, times n^-1/5), and scores are ranks smoothed by this part of a column's deviation, of
# columns whose quantiles of this order and its complement were made equally far from the median.
# Chosen on: ten kinds of narrow tables with clear groups and the null kinds of
# benchmarks/calibration.py, of other random states, 8 to 30 tables each. Widths of 0.4 and 0.9 show
# about as many groups; with 0.9, more even gradients are called clusters. Smoothing by 0.25 differs
# by no more than chance; by 1, more mixtures and skewed gradients are called clusters; plain ranks
# show fewer groups.
STRUCTURE_NARROW = 20
VALLEY_NUMBERS = (2, 3, 4, 6)
VALLEY_WIDTH = 0.6
SMOOTHED_RANKS = 0.5
SKEW_QUANTILE = 0.9

# Of longer tables it looks at so many rows, and at no more entries; k-means at so many principal
# components. (The agreement of label hypotheses by chance is that of CHANCE_SAMPLES permuted rows.)
# Chosen on: no data: a limit on the time of a fit. (1000 rows of few columns would show more groups
# and call a skewed factor clusters in 10 of 30 tables of 1000 x 10, in place of none.)
STRUCTURE_SAMPLES = 300
STRUCTURE_COMPONENTS = 10
STRUCTURE_ENTRIES = 1_500_000
CHANCE_SAMPLES = 1000

# Features are called significant at this false discovery rate.
# Chosen on: no data: by convention.
QVALUE_LEVEL = 0.05

# Share of the columns that a refit permutes for q-values: many null values from one refit, while
# the other columns keep the clusters.
# Chosen on: no data: some columns, as in the jackstraw of Chung and Storey (2015). On four planted
# tables twice the share called the same planted features.
QVALUE_SHARE = 0.1

# There are enough refits for so many features beyond all null values to be significant: fewer need
# more refits.
# Chosen on: four planted tables (iid15, units15), in which half and all of these refits called the
# same planted features; hence by time.
QVALUE_FEWEST = 5

# Columns are compared with permuted columns of about as many ties, by the correction for ties of
# the Kruskal-Wallis test: below .3 (one value in nine of ten rows), .76 (two values, or one in two
# of three rows), .99, and continuous ones.
# Chosen on: no data: the correction of a two-valued column is at most .758 (ten rows).
QVALUE_TIES = (0.3, 0.76, 0.99)

# Clusters that are shown for a method that finds none: k-means on the selected columns. Their
# number is suggested by at most this many samples, and is at most 12, what one picture can show.
# Chosen on: no data: a matter of seconds, and of colours.
SELECTED_SAMPLES = 1000
SELECTED_MOST_CLUSTERS = 12

# Starts of that k-means; the tightest clustering counts.
# Chosen on: no data: scikit-learn's former default.
SELECTED_STARTS = 10

# evaluation ---------------------------------------------------------------------------------------

# Known classes judge columns by k-means on at most this many entries and samples of the table, but
# at least this many samples: more would take longer than the selection.
# Chosen on: no data: about ten seconds on one core.
JUDGE_ENTRIES = 2 * 10**7
JUDGE_SAMPLES = 5000
JUDGE_FEWEST_SAMPLES = 200

# Starts of that k-means, as for the clusters that are shown.
# Chosen on: no data: scikit-learn's former default.
JUDGE_STARTS = 10

# Scores that differ by less, or by less than 1 / sqrt(n), are called equal.
# Chosen on: no data: about the spread of the accuracy of a few hundred samples.
JUDGE_SMALLEST_DIFFERENCE = 0.05

# graphs -------------------------------------------------------------------------------------------

# Principal directions that are kept of tall tables (n > d), where the last ones are mostly noise,
# and of tables whose smaller side exceeds the second number, for which the dense decomposition
# (cubic in that side) is replaced by subspace iteration.
# Chosen on: the development sets (directions); running times (the largest exact size).
N_DIRECTIONS = 100
LARGEST_EXACT_DIRECTIONS = 3000

# In fewer hat coordinates than this, samples are compared by distance instead of angle.
# Chosen on: no data: in one dimension an angle knows the sign only.
FEW_DIRECTIONS = 10

# Weight of the hat matrix where a disconnected graph leaves the clusters undecided: it must join
# the parts without changing which clusters the graph shows.
# Chosen on: the development sets, by a look at those whose graphs have several parts.
BRIDGE_WEIGHT = 0.1

# k-means starts of a spectral clustering.
# Chosen on: no data: scikit-learn's 10, doubled.
KMEANS_STARTS = 20

# Ridge of the local kernel regressions of RUFS: small against the kernel, whose diagonal is 1.
# Chosen on: no data of ours: the value of the published program.
LOCAL_RIDGE = 0.1

# Rows among which hypotheses are formed, where a table has more.
# Chosen on: MNIST (4000 and 70,000 rows: time, and labels no worse than those of all rows).
N_LANDMARKS = 5000

# Labels that the other samples predict less well than this (leave one out, balanced accuracy) are
# doubtful: where the hat metric works it is above 0.8, where it drowns in noise near 0.5. (Views of
# the label-free criteria.)
# Chosen on: the development sets.
DOUBTFUL_ACCURACY = 0.8

# The hat view of labels must show at least this share of the best modularity.
# Chosen on: the development sets.
HAT_SHARE_OF_BEST = 0.5

# hypotheses ---------------------------------------------------------------------------------------


def most_levels(n_samples: int) -> int:
    """Return how many values a column of few may have, such as a category: each has several rows.

    The root of the number of rows. Chosen on: no data.
    """
    return int(max(n_samples, 4) ** 0.5)


# k-means starts of a hypothesis: there are many hypotheses.
# Chosen on: no data.
HYPOTHESIS_STARTS = 3

# Random splits of the columns into halves, of which the hat family has two members each.
# Chosen on: the development sets, for speed: 3 is no better for the features, and 1, 3 and 6 differ
# by about what random states do (benchmarks/hypotheses.py).
HAT_SPLITS = 2

# Neighbours are at most so large a part of the other samples, in graphs of few and of many of them.
# Chosen on: planted tables of 4 to 16 rows; only tables of up to 20 rows feel it (at 5 neighbours).
# Half and double: benchmarks/results/hypotheses_others.md.
LARGEST_LISTS = (1 / 3, 1 / 2)

# Variables, drawn at random, that show whether half of them have as few values as one that a
# hypothesis follows.
# Chosen on: no data: enough for a half, and quick where there are thousands. Half and double: the
# same answers (benchmarks/results/hypotheses_others.md).
LONE_VARIABLES = 100

# Weight of a link between two samples that are neighbours of each other, beside one of 1 where only
# one of them is the other's, in the graphs of many neighbours that hypotheses are cut from.
# Chosen on: 39 development sets (six random states), by a look at all groups: with 4, 8 and 16 the
# features (area) and the clusters (own labels) differ by less than random states do; 2 and 128 are
# a little worse. benchmarks/hypotheses.py prints what half and double do.
MUTUAL_WEIGHT = 8.0

# The hat family is credible, and no other is looked at, where the agreement of its members exceeds
# that on permuted columns by this share of what is left to 1.
# Chosen on: planted and real tables, which lie far to either side (0.06 and below, 0.4 and above
# but for a few); benchmarks/hypotheses.py prints what half and double do. (The adjusted mutual
# information of halves, where clusters are counted: 0.12 and below, 0.22 and above but madelon.)
CREDIBLE_EXCESS = 0.15

# Excess agreement is a share of what is left to 1 beyond chance, or of this if that is less: where
# chance agrees nearly perfectly, the ratio would say nothing.
# Chosen on: no data.
LEAST_ROOM = 0.2

# Parts of a column below this share of the samples are outliers, not a mode.
# Chosen on: no data.
SMALLEST_MODE = 0.02

# Numbers of columns with several modes that the family of that name, and the structure test, look
# at.
# Chosen on: planted tables: more lose the clusters beside correlated columns without any.
MODE_COLUMNS = (12, 25)

# Numbers of selected columns that the second stage looks at; tables of no more columns than the
# second constant: an eighth and a third of them.
# Chosen on: the 41 development sets and planted tables; of ten choices none differs by more than
# random states do; fewer of them are quicker.
SECOND_SIZES = (50, 300)
NARROW_SECOND = 400

# Stages at most, where the hat family is not credible and agreement rises from stage to stage.
# Chosen on: simulated cells with weak markers, which two stages do not find, and planted tables,
# which do not feel it; a limit on time.
MOST_STAGES = 4

# Columns that are compared in full for every feature of the second stage.
# Chosen on: no data.
SCREENED_PER_FEATURE = 4

# Samples that a hypothesis of the second stage cuts itself, its own landmarks; of more samples the
# first stage has no graph of the ranks, which takes a sixth of the time of mnist.
# Chosen on: mnist (4000 rows): 1500, 2000 and all give the same labels, but for random states. (In
# the first stage 2000 rows show less than 5000: clusters in 50 of 500 columns are not seen.)
CUT_LANDMARKS = 2000

# Shrinkages of the hat metrics of the second stage, in units of the estimator's.
# Chosen on: the 41 development sets, where (1, 1) and (3, 3) are little worse.
SECOND_SHRINKAGE = (1.0, 3.0)

# Principal components that stand for plain distances, and few of them that leave noise behind.
# Chosen on: no data.
N_COMPONENTS = 100
FEW_COMPONENTS = 30

# Numbers of columns that sparse k-means keeps.
# Chosen on: planted tables.
SPARSE_COLUMNS = (16, 50)

# Columns of a sparse table that families of plain distances look at: a dense copy is made of them.
# Chosen on: no data: memory.
MOST_DENSE_COLUMNS = 20_000

# jasfs --------------------------------------------------------------------------------------------

# Up to this many samples all are compared with all: O(n^2) time.
# Chosen on: running times.
LARGEST_EXACT_GRAPH = 5000

# At least as many landmarks as this in a cluster, in the mean: fewer do not show its shape.
# Chosen on: no data.
LANDMARKS_PER_CLUSTER = 10

# Most sweeps of one label step: a guard, steps end before it.
# Chosen on: no data.
MAX_SWEEPS = 100

# sparsity="auto" of solver="paper": the end of the range in which the paper finds it insensitive.
# Chosen on: the figures of the paper, no data of ours.
PAPER_SPARSITY = 1e-3

# solver="paper" does not test for convergence before this iteration, as the authors' program.
# Chosen on: the authors' program.
PAPER_FIRST_TEST = 6

# selectors ----------------------------------------------------------------------------------------

# The share of the explained loss that a feature must add: sparsity="auto" of AUFS.
# Chosen on: planted tables and the 20 development sets, for JASFS before it had a criterion.
LEAST_SHARE = 0.004

# sigma="auto" of AUFS, in units of the median residual: smaller ones let clusters shrink to single
# samples.
# Chosen on: planted tables with and without outlying samples.
AUFS_SIGMA = 50.0

# A sigma of AUFS below this share of the median residual only makes the weights ill-conditioned.
# Chosen on: no data: the condition of the weights.
AUFS_SMALLEST_SIGMA = 1e-3

# Relative change of the objective that ends a run of AUFS or UGFS at a penalty below the last one.
# Chosen on: no data: those runs only make the start of the last one.
ROUGH_TOL = 1e-3

# Most steps of a label step of AUFS and UGFS.
# Chosen on: no data: a guard.
MAX_LABEL_STEPS = 200

# UGFS seeks a support anew once the labels have moved by this share of ||F||^2; exchanges from the
# current support follow smaller movements.
# Chosen on: no data.
LABELS_MOVED = 1e-2

# Labels whose columns have less than this squared length have vanished (orthonormal ones have 1): a
# warning says so.
# Chosen on: no data.
VANISHED_LABELS = 0.01

# With a ridge below this (in units of the mean squared column norm) single precision cannot tell a
# dependent column from a new one: AUFS and UGFS convert the table.
# Chosen on: no data: the precision of float32 against sums over a column.
SMALL_RIDGE = 1e-3

# gamma="auto" of USFS, as a share of the smallest penalty with which all weights vanish: it suits
# any units and any size of a table.
# Chosen on: no data: half way, on planted tables neither empty nor dense.
USFS_GAMMA = 0.5

# Reweighted steps of the weights, and of the labels, in one iteration of RUFS: its regression is
# reweighted over samples and features at once, and one step would leave it far from its minimum.
# Chosen on: no data: with any number the objective falls.
RUFS_PASSES = 3

# The weights of the l1 norm of the labels, and of the lengths of the columns of the basis, in RUFS.
# Chosen on: the public program, no data of ours.
RUFS_LABEL_PENALTY = 0.1
RUFS_BASIS_PENALTY = 1e-4

# Power iterations of the labels in one iteration of URAFS: labels settle long before weights do.
# Chosen on: no data: with any number the objective falls.
URAFS_LABEL_STEPS = 3

# The share of a first label of USFS that all clusters have in equal parts, so that labels can move.
# Chosen on: no data.
USFS_SOFTENING = 0.1

# beta="auto" of USFS, in units of the mean squared distance of a sample from the mean: large values
# end in uniform labels, small ones in hard ones.
# Chosen on: planted tables (tests/selectors/test_usfs.py).
USFS_BETA = 0.05

# Memberships of USFS that are all this near to 1/c are the trivial solution: a warning says so.
# Chosen on: not recorded.
USFS_UNIFORM = 1e-3

# gamma="auto" of UDFS, in units of the mean roughness of the columns: for tables with more samples
# than features, and for the others. There a projection without any scatter exists, and scatter only
# counts if sparsity costs about as much.
# Chosen on: not recorded.
UDFS_GAMMA_TALL = 0.003
UDFS_GAMMA_WIDE = 0.3

# Deviation of the noise of the gates of DUFS, and their means at the start: open half way.
# Chosen on: no data: those of the authors.
DUFS_NOISE = 0.5
DUFS_START = 0.5

# The samples that a step of DUFS looks at, drawn from more: it costs O(n²d + n³).
# Chosen on: no data.
DUFS_SAMPLES = 500

# Draws of the null distribution of IFPCA's scores, and the most samples of each: Higher Criticism
# looks at p-values above log(d)/d, and only the shape of the distribution enters.
# Chosen on: no data.
IFPCA_DRAWS = 100_000
IFPCA_SAMPLES = 200

# Bounds among which the gap statistic of SparseKMeans chooses, from 1.2 to 0.9 sqrt(d).
# Chosen on: no data: those of the authors' package.
N_BOUNDS = 10

# gamma="auto" of SOGFS, in units of the mean roughness of the columns on the first graph: so large
# that as many features keep weights as the projection has dimensions.
# Chosen on: not recorded.
SOGFS_GAMMA = 10.0

# Iterations in which the neighbours of SOGFS are those in all features, before they are those in
# the projection.
# Chosen on: not recorded.
SOGFS_FIXED_LISTS = 5

# solvers ------------------------------------------------------------------------------------------

# A label step never reduces a cluster below this many samples.
# Chosen on: no data: the smallest cluster that has a spread.
SMALLEST_CLUSTER = 2

# What a single exchange of features must gain (UGFS), as a share of the loss of the empty support.
# Smaller gains cost a step each and do not change which features matter.
# Chosen on: no data: well below what a feature adds, well above rounding.
LEAST_EXCHANGE = 1e-6

# Columns that are priced against every member of the support in an exchange (UGFS).
# Chosen on: no data: all columns of small tables; k x 512 prices stay small for large ones.
EXCHANGE_CANDIDATES = 512

# Exchanges of features that are tried at once: half of them, and so on, where they do not pay.
# Chosen on: not recorded.
EXCHANGES_AT_ONCE = 64

# The first weights of UDFS and SOGFS, (median roughness / roughness of the column)^p: p makes the
# m-th smoothest column weigh this many times the median, so that Lanczos can tell the smoothest
# from the others; the largest p; the largest log of a weight.
# Chosen on: not recorded.
FIRST_WEIGHT_SPREAD = 3.0
FIRST_WEIGHT_POWER = 100.0
FIRST_WEIGHT_LOG = 5.0

# With a penalty of orthogonality above this, multiplicative label steps start from the indicator of
# the first labels, where they stay: a step moves an entry by about 1/penalty.
# Chosen on: no data: in 200 steps of 1e-6 an entry moves by less than a thousandth.
FROZEN_LABELS = 1e6

# What is added to the first label matrix otherwise, as a share of a column's largest entry: a
# multiplicative step never changes a zero.
# Chosen on: no data: the value of the public NDFS programs.
LABEL_SOFTENING = 0.2

# workflow -----------------------------------------------------------------------------------------

# Selections are repeated this many times on this share of the rows; not at all where the table has
# more than 2e7 elements, on which ten more fits take many minutes.
# Chosen on: no data: 0.8 is the share of StabilitySelection, ten the fewest with a useful interval.
SUBSAMPLES = 10
SUBSAMPLE_SHARE = 0.8
SUBSAMPLED_ELEMENTS = 20_000_000

# q-values come with an automatic number of features for tables of up to so many elements.
# Chosen on: no data: forty fits of such a table take seconds.
QVALUE_ELEMENTS = 100_000

# `inspect` looks for clusters as `select` does in tables of up to so many elements, in larger ones
# in so many samples (as do notes about values).
# Chosen on: no data: a look that takes seconds.
INSPECTED_SAMPLES = 600
INSPECTED_ELEMENTS = 3_000_000

# A note about units: the widest column varies this many times more than all but the narrowest tenth
# (clusters alone widen a column, too, but by less).
# Chosen on: planted tables (tests/workflow/test_select.py).
WIDE_SPREAD = 5.0
NARROW_SHARE = 0.1

# A table looks transposed if more than this share of its variance lies between the means of its
# rows, and so many times what lies between those of its columns.
# Chosen on: 53 data sets the right way round, of which none has more than 0.38; of those that are
# not standardised, most have more when they are transposed. Ratios from 1.5 to 7 find the same.
TRANSPOSED_SHARE = 0.5
TRANSPOSED_RATIO = 5.0

# Clusters are said to follow a column beyond this adjusted mutual information (of the smaller
# entropy), and beyond chance: faint agreement is worth no sentence.
# Chosen on: no data.
FOLLOWED_AGREEMENT = 0.5

# A direction that moves all columns is worth a note from this share of the variance on.
# Chosen on: the same sets: 0.23 to 0.44 for faces in uneven light and raw arrays, else below 0.18.
OFFSET_SHARE = 0.2

# Columns of a table that correlate by this or more are called near duplicates of each other.
# Chosen on: no data: neighbouring pixels correlate by 0.9, and are not meant.
TABLE_DUPLICATE = 0.99

# Columns that look like row numbers: of fewer rows than this they are too likely by chance.
# Chosen on: no data: small tables of people sorted by age must not be warned about.
ROW_NUMBERS_FEWEST = 5

# Whole numbers that are all different, in any order, look like numbers of rows where so many draws
# from their range would be with at most this probability.
# Chosen on: no data: one in a thousand. The columns of a sheet of a reader, 540 numbers in a row in
# another order, would be with 1e-233.
NUMBERED_BY_CHANCE = 1e-3

# report -------------------------------------------------------------------------------------------

# A report calls clusters doubtful if the hypotheses put a sample together with less than this share
# of its cluster, and selections unstable that agree by less than this on subsamples.
# Chosen on: no data: half.
REPORT_DOUBTFUL_CERTAINTY = 0.5
REPORT_UNSTABLE = 0.4

# Caveats of a report: fewer samples than these, in the table or in a cluster, say little; standard
# deviations that are so many times apart are taken for different units.
# Chosen on: not recorded.
REPORT_FEW_SAMPLES = 30
REPORT_FEW_IN_CLUSTER = 3
REPORT_DIFFERENT_UNITS = 100.0

# Features that correlate by more than this are nearly the same in a report.
# Chosen on: not recorded.
REPORT_NEAR_DUPLICATE = 0.9

# bench --------------------------------------------------------------------------------------------

# Seeds of a RandomSelector in the default track, at least: one draw says nothing about drawing.
# Chosen on: no data; the published protocol has as many runs of k-means.
BENCH_RANDOM_DRAWS = 10

# The stopping rule under which running times are taken.
# Chosen on: no data; the setting of the JASFS paper.
BENCH_TIMED = {"max_iter": 20, "tol": 1e-5}

# Two scores (in [0, 1]) that differ by no more than this are a tie: one point of ACC or NMI.
# Chosen on: no data; what tables of the field print without decimals.
BENCH_TIE = 0.01
