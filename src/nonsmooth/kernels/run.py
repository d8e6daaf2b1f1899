"""The blocks of a run, split by who uses them; a scheme states which it needs.

Sizes beside those of `Tables`: `n_stage` rows of K, `n_coef` powers of the dense
output, `n_implicit` coordinates of the implicit method and `n_flow` with the states of
friction laws (0 where it cannot be used), `n_pair` pairs of the friction problem, with
joints `n_flank` flanks, `n_mixed` pairs, of small ones `n_point` with `n_base` bases;
`capacity` steps of a log.
"""

from nonsmooth.kernels.abi import (
    INTEGER,
    NUMBER,
    Block,
    complexes,
    floats,
    integers,
    records,
)
from nonsmooth.kernels.complementarity.horizontal import Hlcp
from nonsmooth.kernels.complementarity.lemke import Lcp
from nonsmooth.kernels.friction.modes import Mode
from nonsmooth.kernels.look import Look

# What a march ends with; the sentences are in `errors.FAILURES`.
END, FULL, TICK, STOPPED = 0, 1, 2, 3
NOT_FINITE, STEP_TOO_SMALL, NEWTON_FAILED, CANNOT_ASSEMBLE = -1, -2, -3, -4
UNDECIDED, TOO_DEEP = -5, -6
# How a step was taken.
EXPLICIT, IMPLICIT, CROSSED = 0, 1, 2
# Nodes of a step at which guards are looked at.
N_NODE = 8
# Pairs of a friction problem of which all solutions are looked for.
MAX_PAIR = 10


class Settings(Block):
    """What the run was asked for; nothing here changes."""

    rtol = NUMBER
    atol = NUMBER  # m, rad, m/s, rad/s alike
    h_fixed = NUMBER  # s, step of a method without error control
    h_max = NUMBER  # s
    alpha = NUMBER  # 1/s, Baumgarte
    beta = NUMBER  # 1/s^2, Baumgarte
    size = NUMBER  # m, extent of the model
    span = NUMBER  # s, of the whole run
    pace = NUMBER  # 1/s, sizes or radians per second below which all is at rest
    is_projected = INTEGER
    is_auto = INTEGER  # may change between explicit and implicit
    branch = INTEGER  # what to do where friction in joints has several solutions


class Tableau(Block):
    """One explicit Runge-Kutta method; `n` counts all stages, with those of P."""

    n = INTEGER
    n_stage = INTEGER
    degree = INTEGER
    order = INTEGER
    needs_end = INTEGER  # the error estimate uses f at the unprojected end
    is_adaptive = INTEGER
    is_semi_implicit = INTEGER  # positions advance with the new velocities
    reach = NUMBER  # |h lam| beyond which the method is unstable
    A = floats("n, n")
    b = floats("n")
    c = floats("n")
    E = floats("2, n")  # zero for a fixed-step method
    P = floats("n, degree")


class Step(Block):
    """Where the run is, and the step it takes."""

    set = Settings
    look = Look

    t = NUMBER
    h = NUMBER  # next step, 0 to choose afresh
    h_last = NUMBER  # last explicit step, 0 for none
    h_shown = NUMBER  # longest step whose nodes show what guards do
    t_cap = NUMBER  # laws are evaluated no later than this
    arc = INTEGER  # stretches between breaks of laws that are over
    n_coef = INTEGER
    error_last = NUMBER  # of the last step, in units of the tolerance
    y = floats("n_y")  # state at t
    y1 = floats("n_y")  # state at t + h
    stage = floats("n_y")
    moved = floats("n_y")  # what the projection changed
    K = floats("n_stage, n_y")
    C = floats("n_coef, n_y")  # dense output in powers of x
    e = floats("2, n_y")  # error estimates
    tol = floats("n_y")  # admissible errors
    d = floats("n_y")  # scratch

    pivot = NUMBER  # least pivot of S at the start of the step, see `skyline`
    pivot_end = NUMBER  # and at its end
    pivot_rate = NUMBER  # 1/s, of its root over the last step, 0 if unknown

    # guards of joints over the stages of the step
    low = floats("n_watch")
    high = floats("n_watch")
    first = floats("n_watch")  # at its start
    at_end = floats("n_watch")

    # account
    n_step = INTEGER
    n_reject = INTEGER
    n_rhs = INTEGER
    n_jacobian = INTEGER
    left = NUMBER  # violation at the end of the last attempt
    violation = NUMBER  # largest left after a step
    t_fail = NUMBER  # s, where a step failed for good
    t_singular = NUMBER  # s, first loss of rank, inf for none
    t_redundant = NUMBER  # s, the same with contacts that stick


class Watch(Block):
    """Guards on the dense output of the step."""

    step = Step

    dense = floats("n_y")  # state on the dense output
    rate = floats("n_dof")  # accelerations on the dense output
    guard = floats("n_watch, 2")  # value and rate
    node = floats("9, n_watch, 2")  # the same inside the step, at N_NODE + 1 places
    side = floats("n_watch")  # side of each guard at t, by its sign
    is_at_zero = integers("n_watch")  # it fired, or was armed, at the start of the step
    is_resolved = INTEGER  # the nodes tell what friction at rest does in the step
    missed = floats("n_watch")  # what nodes of a reaction missed in the longest step
    h_missed = floats("n_watch")  # s, of that step
    noise = floats("n_watch")  # what they miss however short the step is
    is_far = INTEGER  # all guards stay far from zero: the last node is the next first
    is_known = INTEGER  # the first node is
    is_at_end = INTEGER  # the last node was the last to be evaluated
    # Of open contacts, seen from their surfaces: m/s^2, how b's origin is accelerated;
    # m/s, by how much its corners differ in speed.
    bend = floats("n_contact")
    swing = floats("n_contact")
    root = floats("n_watch")  # fraction of the step, 2 for none
    fired = integers("n_watch")


class Decision(Block):
    """The decision of contacts at rest; h contacts in the largest group."""

    step = Step
    lcp = Lcp
    hlcp = Hlcp

    is_known = INTEGER  # the mode is
    status = INTEGER
    lcp_status = INTEGER
    n_chatter = INTEGER  # switches in a row without time passing
    t_switch = NUMBER  # s, last switch
    t_flood = NUMBER  # s, since when switches are counted
    n_flood = INTEGER
    n_tie = INTEGER  # contacts let go only because another was
    t_tie = NUMBER  # s, when first

    is_touched = integers("n_group")  # whether a contact of the group fired
    rests = integers("n_contact")  # whether a contact is at rest and to be decided
    balanced = integers("n_contact")  # whether it rests because its limit balances it
    freed = integers("n_contact")  # FREED or PRESCRIBED if let go at this event
    dropped = integers("n_contact")  # whether its limit is that of motion
    kept = records(Mode, "n_contact")  # before a review
    unsigned = integers("n_contact")  # bit j: flank j has no force yet
    ahead = floats("n_y")  # state a moment later

    n_listed = INTEGER
    n_force = INTEGER
    listed = integers(
        "n_largest"
    )  # contacts at rest, then joints that slide, of a group
    delassus = floats("n_largest * n_largest")  # (n_force, n_force)
    free = floats("n_largest")  # its diagonal without joints
    slip_rate = floats("n_largest")  # without friction
    slip_change = floats("n_largest")  # with it
    limit = floats("n_largest")

    # the same with joints, see `flanks`
    n_term = INTEGER
    n_solution = INTEGER
    t_branch = NUMBER  # s, when a branch was first chosen
    n_unchecked = INTEGER  # switches too large for a check of uniqueness
    term_force = integers("n_flank")  # place in `listed` of the contact of each flank
    term_flank = integers("n_flank")
    term_phi = floats("n_flank")
    term_kind = integers("n_flank")  # RUBBING, FORWARD, BACKWARD or EITHER
    term_base = floats("n_flank")  # force of each flank without friction
    term_response = floats("n_flank * n_largest")  # under unit friction forces
    reaction_base = floats("n_mixed, 2")  # of each joint, without friction
    reaction = floats("n_mixed * n_largest")  # (h, 2, n_force) under unit forces
    coef = floats("n_largest * n_mixed")  # friction forces in terms of the unknowns
    constant = floats("n_largest")
    friction = floats("n_largest")
    A_plus = floats("n_mixed * n_mixed")
    A_minus = floats("n_mixed * n_mixed")
    b_hlcp = floats("n_mixed")
    w_hlcp = floats("n_mixed")
    z_hlcp = floats("n_mixed")
    points = floats("2 * n_point * n_base")  # all solutions of a small problem
    is_isolated = integers("n_base")
    base_kind = integers("n_base")  # scratch


class Newton(Block):
    """The implicit method, n = n_implicit, N = n_flow."""

    step = Step

    h_factored = NUMBER  # step the Newton matrices belong to, 0 for none
    is_jacobian_new = INTEGER
    has_jacobian = INTEGER
    jacobian_age = INTEGER  # steps
    radius = NUMBER  # 1/s, estimated spectral radius of the Jacobian
    h_last = NUMBER  # last accepted implicit step, 0 for none
    h_retake = NUMBER  # step whose polynomial is in `previous`, from the same start
    error_last = NUMBER
    rate = NUMBER  # of convergence
    ledger_error = NUMBER  # of the last step, in units of the tolerance
    n_implicit = INTEGER  # 0 where the method cannot be used
    Z = floats("3, n_implicit + n_flow")  # stage increments
    W = floats("3, n_implicit + n_flow")  # transformed
    F = floats("3, n_y")
    Aq = floats("n_flow, n_implicit")  # d(a, z')/dq
    Av = floats("n_flow, n_implicit")  # d(a, z')/dv
    Az = floats("n_flow, n_flow - n_implicit")  # d(a, z')/dz
    real_lu = floats("n_flow * n_flow")
    real_swap = integers("n_flow")
    complex_lu = complexes("n_flow * n_flow")
    complex_swap = integers("n_flow")
    x = floats("n_implicit + n_flow")
    z = complexes("n_implicit + n_flow")
    previous = floats("3, n_implicit + n_flow")  # dense output of the last step


class Span(Block):
    """Contacts as their gaps and forces show them, and the start of a span of steps."""

    shown = integers("n_contact")
    mode = records(Mode, "n_contact")
    y = floats("n_y")
    rate = floats("n_y")
    fired = integers("n_watch")


class Log(Block):
    """What a march records, one chunk at a time."""

    _is_written = True

    capacity = INTEGER
    n = INTEGER  # steps recorded
    t = floats("capacity")  # start of each step
    h = floats("capacity")
    cap = floats("capacity")  # laws are evaluated no later than this
    arc = integers("capacity")  # number of the stretch between breaks of laws
    method = integers("capacity")  # EXPLICIT, IMPLICIT or CROSSED
    coef = floats("capacity, 1 + n_coef, n_y")  # y at the start, then C
    end = floats("capacity, n_y")  # y at the end, before any jump
    fired = integers("capacity, n_watch")  # guards that fired at the end
    impulse = floats("capacity, n_contact, 2")  # N s, along n and tau, at the end
    mode = records(Mode, "capacity, n_contact")  # of the step
