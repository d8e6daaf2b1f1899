"""Bounds of all checks, each with its reason.

Forces and accelerations of a sample are evaluated from a state that is projected onto
the constraints, so that equations between columns of one instant hold to round-off
times the condition of the linear problems. What is compared between instants has the
error of the integration instead.
"""

EPS = 2.2e-16

# M a = sum of forces, columns of forces against the laws: round-off times conditions
# up to some 1e6, relative to the sum of the sizes of all forces on that body.
NEWTON = 1e-9
# The same for what reaches a body through joints from the largest force anywhere.
SPREAD = 1e-13
# Friction beyond its limit at rest, relative to the load; the figure asked for.
LIMIT = 1e-9
# At located events limits are met, and loads are zero, as well as the instant is known:
# some ten tolerances of the run's time, being found on the dense output. Forces may be
# off there by what they change in so long.
LOCATED = 10.0
# Load, as a part of the weight of all, from which on a contact has its whole drag
# (docs/theory/friction.md); without gravity, of mass times size, in N.
WETTED = 1e-6
# Friction at rest beyond its limit that says nothing, as a part of the weight, where
# the load is a trace of it; it vanishes under one that is felt (theory of contact).
SPARED = 1e-9
# An overlap that is round-off, beside the coordinates: it may as well be a gap.
FLUSH = 1e-15
# Gaps and forces of the nodes of a patch, relative to their largest: round-off times
# the condition of the flexibility of neighbouring nodes.
NODES = 1e-8
# Places of the nodes of a patch, beside its extent: round-off of a sum over shapes.
PLACES = 1e-10
# Friction while slipping is the law's value: one product.
SLIP_LAW = 1e-9
# Slip velocity of what sticks, in units of rtol and of the fastest speed: the engine
# projects it to zero, dependent rows to what a step may err at rest (its atol).
STUCK = 0.1
# Slip against its mode: events are located to round-off of time, so that it is
# round-off of the speeds, and what the acceleration makes of 1e-12 of the time.
SIGN = 1e-9
# Speeds below this part of the run's fastest, and of the model's size in a second, are
# rest: with SIGN, what becomes of speeds in 1e-12 of the run, as well as instants are
# known.
REST = 1e-3
# Less slip than this part of the speeds around is rest, as docs/theory/contact.md
# has it.
ROUND_SLIP = 1e-13
# Lengths and angles known from poses: sums of a few products, relative to the size of
# the coordinates.
PLACE = 1e-13
# A gap that changes by more than this part of the model's size, while an event may have
# happened, has jumped.
LEAP = 1e-8
# A piece of a body that overlaps by less than this part of a face has the normal of the
# face, whose round-off would show in the rate of its own.
BARELY = 1e-10
# The pressure between outlines, by quadrature on both sides: the engine meets powers of
# the depth to 6e-10.
PRESSURE = 1e-8
# Joints and drives: projected to some 1e-12 at ends of steps, and inside.
CLOSED = 1e-9
# Positions and velocities do not jump, but for what projections of slips that come to
# rest change: no more than some steps may err, in units of rtol.
CONTINUITY = 100.0
# Bristles beyond mu0/stiffness, relatively: their rate has a kink where slip reverses,
# which the dense output inside a step rounds off.
BRISTLES = 1e-3
# Integrals over a step against differences over it: 1e4 local errors, and this part of
# the integral, since the dense output has a lower order than the step.
LOCAL_ERRORS = 1e4
INTEGRAL = 1e-4
# Ledger relative to what was exchanged, in units of rtol: the errors of all steps of a
# run, some hundreds, and of the works, whose forces are stiffer than the motion.
LEDGER = 1e4
# Energy that is nothing: this part of what lifts all masses by the size of the scene,
# whose round-off the ledger has.
NO_ENERGY = 1e-6
# Runs at rtol and rtol/100 agree to this part of the motion's size, or are tried
# against tighter and disturbed ones.
AGREE = 1e-5
