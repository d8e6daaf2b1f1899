"""Round-off scales and tolerances: one name for one meaning.

Each is a part of something: of the model's size, of its weight (`Tables.force`), of the
speeds a slip velocity is the difference of, of the time reached. What steers an
algorithm and is no tolerance, such as a number of iterations, stands where it is used;
what refers to a scaled complementarity problem, in `complementarity.scaling`.
"""

# Relative spacing of numbers, and what keeps a division finite.
EPSILON, TINY = 2.3e-16, 1e-300

# ---- of the model's size, or of one radian -------------------------------------

# A violation of joints that is round-off; and what a projection may leave at most.
ROUND_OFF, ASSEMBLED = 4e-15, 1e-7
# A gap that is round-off of positions; one that is closed at the start of a run; one on
# the wrong side of zero that tells of a crossing not seen.
SMALLEST_GAP, CLOSED, MISSED = 1e-15, 1e-14, 1e-10
# Overlap below which a normal law is evaluated there: the ratio of force to overlap has
# a limit that round-off hides.
SMALLEST_OVERLAP = 1e-13
# Overlap to which a contact without force is followed before its friction is decided;
# overlap within which a step begins after touch-down.
LOOK_AHEAD, FELT = 1e-8, 1e-3
# The same of outlines: under a corner the force grows with the square of the overlap.
LOOK_AHEAD_FLAT = 1e-6

# ---- of the greatest overlap -----------------------------------------------------

# With a segment, with which a point may start in front of it; how many times deeper it
# may come over from another than it has been; what is not round-off of a touch.
IN_FRONT, DEEPER, AT_ALL = 0.02, 2.0, 1e-6

# ---- of the speeds a slip velocity is the difference of ------------------------

# A slip velocity that is round-off; its guard fires at half of what counts as rest.
SMALLEST_SLIP = 5e-14
AT_REST = 2.0 * SMALLEST_SLIP
# The same of a contact that others hold, below which they do not move: more, since
# their accelerations have round-off that adds up over a step.
MOVES = 1e-9
# Change of velocities that may bring contacts to rest together: more than round-off of
# one, since nearly dependent ones magnify it, and still nothing beside the motion.
STOPPED = 1e-8
# Part of the fastest body's speed in the round-off of every other's; part of the run's
# fastest in that of all that is slower since.
SPREAD, REMEMBERED = 1e-2, 0.1

# ---- of the model's weight -----------------------------------------------------

# A normal force too small to say anything about friction; one that is felt, beside
# which no friction is too small; a force that is round-off of the others.
SMALLEST_FORCE, FELT_FORCE, NO_FORCE = 1e-9, 1e-6, 1e-12

# ---- of a time -----------------------------------------------------------------

# A step must move time by more; one that fails at the second size fails for good.
MIN_STEP, HOPELESS = 1e-15, 1e-12
# An event is landed on; guards whose roots lie this close fire as one; a guard that
# would be at zero within this is there: a run that begins at an event of another.
LANDED, SIMULTANEOUS, ARMED = 3e-16, 1e-12, 1e-13
# A guard that fired and is farther from zero than its rate goes in this has jumped.
JUMPED = 1e-9
# Time has passed if it moved by more than this part of itself, and of a step.
NO_TIME, PASSED = 1e-13, 1e-8

# ---- of a quantity's own terms -------------------------------------------------

# A guard this small beside the largest of a step is the round-off of a zero; a reaction
# is landed on at the second, which round-off of most mechanisms allows.
ZERO, NO_GUARD = 1e-9, 1e-12
# An acceleration that is round-off of its parts. Not more: a body that tilts by 1e-6
# lets one of two corners slip, by as little.
NO_ACCELERATION = 1e-13
# Friction this near to its limit is at the limit; beyond it by less than the second it
# is round-off of an ill-conditioned matrix.
AT_LIMIT, VERIFIED = 1e-9, 1e-6
# A node of a patch whose gap is negative by less than this part of the deepest is open.
CLOSED_NODE = 1e-12
# Of a block in a guide: forces and gaps of nodes that are round-off, beside the load,
# and gaps beside the clearance.
NO_NODE_FORCE, NO_GAP = 1e-11, 1e-13
# A contact that yields by less than this part of what it would alone is held by others.
NO_COMPLIANCE = 1e-12
# Changes of loads that do not matter: the round-off of reactions that are not unique.
SHARED = 1e-8
# A flank's force this small beside the largest says nothing about its sign; change of a
# pin's direction, rad, that decides nothing.
NO_FLANK, AIMED = 1e-9, 1e-12

# ---- of a pivot's diagonal entry -----------------------------------------------

# A pivot that has lost all but round-off: the row depends on the rows before it. With
# sticking contacts it may be smaller, as small as the friction problem can tell: two on
# one body that tilts a little differ by little, and still each has its own friction.
# Where rows depend on each other at the start of an arc they do so for all of it: the
# last is ten times as much of a tilt, which no step reaches unseen.
RANK, CONTACT_RANK, TIED_RANK = 1e-10, 1e-11, 1e-9
# A node of a patch that gives way only as others do.
DEPENDENT_NODE = 1e-13
# Regularisation of a dependent row: large enough that round-off in the null space stays
# below 1e-9, small enough to converge in a few refinements, to the last.
REGULARISATION, REFINED = 1e-7, 1e-15
# Least pivots of a pose that is nearly singular: for a step, and for a sample.
NEARLY_SINGULAR, TOO_SINGULAR = 5e-2, 1e-4
