"""Options and state of a run, the arrays a step works in, and its log."""

from nonsmooth.kernels.abi import COMPLEXES, FLOATS, INTEGER, INTEGERS, NUMBER, Block

# What a march ends with; the sentences are in `errors.FAILURES`.
END, FULL, TICK, STOPPED = 0, 1, 2, 3
NOT_FINITE, STEP_TOO_SMALL, NEWTON_FAILED, CANNOT_ASSEMBLE = -1, -2, -3, -4
UNDECIDED = -5


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
    A = FLOATS  # (n, n)
    b = FLOATS  # (n)
    c = FLOATS  # (n)
    E = FLOATS  # (2, n); zero for a fixed-step method
    P = FLOATS  # (n, degree)


class Run(Block):
    """One run; n_y = 2 n_dof + n_state + n_work."""

    # options
    rtol = NUMBER
    atol = NUMBER  # m, rad, m/s, rad/s alike
    h_fixed = NUMBER  # s, step of a method without error control
    h_max = NUMBER  # s
    alpha = NUMBER  # 1/s, Baumgarte
    beta = NUMBER  # 1/s^2, Baumgarte
    size = NUMBER  # m, extent of the model
    is_projected = INTEGER
    is_auto = INTEGER  # may change between explicit and implicit

    # state
    t = NUMBER
    h = NUMBER  # next step, 0 to choose afresh
    t_cap = NUMBER  # laws are evaluated no later than this
    pivot = NUMBER  # least pivot of S at the start of the step, see `skyline`
    pivot_end = NUMBER  # and at its end
    pivot_rate = NUMBER  # 1/s, of its root over the last step, 0 if unknown
    is_fresh = INTEGER  # y' at (t, y) is in K[0]
    is_implicit = INTEGER
    is_armed = INTEGER  # sides of the guards are known
    n_stiff = INTEGER
    n_calm = INTEGER

    # account
    n_step = INTEGER
    n_reject = INTEGER
    n_rhs = INTEGER
    n_jacobian = INTEGER
    violation = NUMBER  # largest left after a step
    t_fail = NUMBER  # s, where a step failed for good
    t_singular = NUMBER  # s, first loss of rank, inf for none
    t_redundant = NUMBER  # s, the same with contacts that stick
    n_unchecked = INTEGER  # explicit steps since stiffness was last looked for

    # one step
    n_y = INTEGER
    n_coef = INTEGER
    y = FLOATS  # (n_y) state at t
    y1 = FLOATS  # (n_y) state at t + h
    stage = FLOATS  # (n_y)
    moved = FLOATS  # (n_y) what the projection changed
    K = FLOATS  # (n, n_y)
    C = FLOATS  # (n_coef, n_y) dense output in powers of x
    e = FLOATS  # (2, n_y) error estimates
    tol = FLOATS  # (n_y) admissible errors

    # guards of joints at the stages of a step; 4 for each, and the margin
    heard = FLOATS  # at the last stage
    low = FLOATS
    high = FLOATS
    first = FLOATS  # at the start of the step
    at_end = FLOATS

    # guards
    dense = FLOATS  # (n_y) state on the dense output
    rate = FLOATS  # (n_dof) accelerations on the dense output
    guard = FLOATS  # (2 n_watch) value and rate
    side = FLOATS  # (n_watch) side of each guard at t, by its sign
    node = FLOATS  # (n_node, 2 n_watch) values and rates inside the step
    is_at_zero = INTEGERS  # (n_watch) it fired, or was armed, at the start of the step
    is_resolved = INTEGER  # the nodes tell what friction at rest does in the step
    root = FLOATS  # (n_watch) fraction of the step, 2 for none
    fired = INTEGERS  # (n_watch)

    # switching; n = n_contact, h = contacts of the largest group
    is_mode_known = INTEGER
    is_break = INTEGER  # a time law may have jumped
    has_touched = INTEGER  # a contact has just touched down
    h_touch = NUMBER  # s, first step after the last touch-down
    n_chatter = INTEGER  # switches in a row without time passing
    span = NUMBER  # s, of the whole run
    t_flood = NUMBER  # s, since when switches are counted
    n_flood = INTEGER
    t_switch = NUMBER  # s, last switch
    n_tie = INTEGER  # contacts let go only because another was
    t_tie = NUMBER  # s, when first
    switch_status = INTEGER
    lcp_status = INTEGER
    is_touched = INTEGERS  # (n_group) whether a contact of the group fired
    rests = INTEGERS  # (n) whether a contact is at rest and to be decided
    freed = INTEGERS  # (n) whether a contact was let go at this event
    kept = INTEGERS  # (n) slips before a review
    n_listed = INTEGER
    n_force = INTEGER
    listed = INTEGERS  # (h) the contacts at rest, then joints that slide, of one group
    delassus = FLOATS  # (h, h)
    slip_rate = FLOATS  # (h) without friction
    slip_change = FLOATS  # (h) with it
    limit = FLOATS  # (h)
    M = FLOATS  # (2 h, 2 h)
    q_lcp = FLOATS  # (2 h)
    z_lcp = FLOATS  # (2 h)
    w_lcp = FLOATS  # (2 h)
    ahead = FLOATS  # (n_y) state a moment later

    # the same with joints, see `flanks`; s = 4 sliding joints of a group, n = s + 2 h
    branch = INTEGER  # what to do where solutions are not unique
    n_term = INTEGER
    n_solution = INTEGER
    t_branch = NUMBER  # s, when a branch was first chosen
    n_unchecked_switch = INTEGER  # switches too large for a check of uniqueness
    term_force = INTEGERS  # (s) place in `listed` of the contact of each flank
    term_flank = INTEGERS  # (s)
    term_phi = FLOATS  # (s)
    term_kind = INTEGERS  # (s) RUBBING, FORWARD, BACKWARD or EITHER
    term_base = FLOATS  # (s) force of each flank without friction
    term_response = FLOATS  # (s, h) under unit friction forces
    reaction_base = FLOATS  # (h, 2) of each joint, without friction
    reaction = FLOATS  # (h, 2, h) under unit friction forces
    coef = FLOATS  # (h, n) friction forces in terms of the unknowns
    constant = FLOATS  # (h)
    friction = FLOATS  # (h)
    A_plus = FLOATS  # (n, n)
    A_minus = FLOATS  # (n, n)
    b_hlcp = FLOATS  # (n)
    w_hlcp = FLOATS  # (n)
    z_hlcp = FLOATS  # (n)
    points = FLOATS  # (2^e, 2 e) all solutions of a problem of e <= MAX_PAIR
    is_isolated = INTEGERS  # (2^e)
    base_kind = INTEGERS  # (2^e) scratch

    # the papers' scheme: contacts as their gaps and forces show them, and the start of
    # the span of steps that is recorded as one
    shown = INTEGERS  # (n)
    span_side = INTEGERS  # (n)
    span_slip = INTEGERS  # (n)
    span_y = FLOATS  # (n_y)
    span_rate = FLOATS  # (n_y)

    # the implicit method, n = n_dof, N = n + n_state
    h_factored = NUMBER  # step the Newton matrices belong to, 0 for none
    is_jacobian_new = INTEGER
    has_jacobian = INTEGER
    jacobian_age = INTEGER  # steps
    radius = NUMBER  # 1/s, estimated spectral radius of the Jacobian
    h_last = NUMBER  # last accepted implicit step, 0 for none
    h_stages = NUMBER  # the stages in K belong to, where a landing was nudged
    h_retake = NUMBER  # step whose polynomial is in `previous`, from the same start
    error_last = NUMBER
    newton_rate = NUMBER
    ledger_error = NUMBER  # of the last step, in units of the tolerance
    Z = FLOATS  # (3, n + N) stage increments
    W = FLOATS  # (3, n + N) transformed
    F = FLOATS  # (3, n_y)
    Aq = FLOATS  # (N, n) d(a, z')/dq
    Av = FLOATS  # (N, n) d(a, z')/dv
    Az = FLOATS  # (N, n_state) d(a, z')/dz
    real_lu = FLOATS  # (N, N)
    real_swap = INTEGERS  # (N)
    complex_lu = COMPLEXES  # (N, N)
    complex_swap = INTEGERS  # (N)
    x = FLOATS  # (n + N)
    z = COMPLEXES  # (n + N)
    previous = FLOATS  # (3, n + N) dense output of the last step
    d = FLOATS  # (n_y)


class Log(Block):
    """What a march records, one chunk at a time."""

    capacity = INTEGER
    n = INTEGER  # steps recorded
    t = FLOATS  # (capacity) start of each step
    h = FLOATS  # (capacity)
    is_implicit = INTEGERS  # (capacity)
    coef = FLOATS  # (capacity, 1 + n_coef, n_y) y at the start, then C
    event = INTEGERS  # (capacity, n_watch) guards that fired at its end
    side = INTEGERS  # (capacity, n_contact) mode of the step
    slip = INTEGERS  # (capacity, n_contact)
    flank = INTEGERS  # (capacity, n_contact)
    approach = FLOATS  # (capacity, n_contact)
    hold = FLOATS  # (capacity, n_contact)
