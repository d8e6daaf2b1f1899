"""The packed model, and what follows from it at one instant.

Bodies are numbered with the moving ones first: body `k < n_body - n_support` owns
the coordinates `q[3 k: 3 k + 3] = (x, y, theta)`; the others, supports and the
ground, have their motion prescribed. `*_par` points into one pool of parameters,
`*_law` to the first of an element's time laws.
"""

from nonsmooth.kernels.abi import FLOATS, INTEGER, INTEGERS, NUMBER, Block


class Tables(Block):
    """The model as constant arrays; nothing here changes during a run."""

    n_body = INTEGER
    n_support = INTEGER
    n_dof = INTEGER  # 3 for each moving body
    n_marker = INTEGER
    n_law = INTEGER
    n_joint = INTEGER
    n_row = INTEGER
    n_pair = INTEGER
    n_joint_pair = INTEGER  # of these, without a contact's row
    n_profile = INTEGER
    n_force = INTEGER
    n_touch = INTEGER  # contacts of shapes
    n_contact = INTEGER  # these, then the sliding contacts inside joints
    n_state = INTEGER  # internal states of friction laws
    n_group = INTEGER
    n_largest = INTEGER  # contacts in the largest group
    n_guard = INTEGER  # of the user's events
    n_watch = INTEGER  # all guards: the user's, four for each contact, uniqueness
    n_work = INTEGER

    par = FLOATS  # parameters of every element
    address = INTEGERS  # of each kind's row function

    force = (
        NUMBER  # N, weight of the model, or of its inertia where there is no gravity
    )
    energy = NUMBER  # J, of the whole model turning at 1 rad/s
    mass = FLOATS  # (n_dof) masses and inertias; 0 for what cannot turn
    minv = FLOATS  # (n_dof) inverse masses; 0 for what cannot accelerate
    weight = FLOATS  # (n_dof) force of gravity
    scale = FLOATS  # (n_dof) size of each coordinate: m, m, rad

    support_law = INTEGERS  # first of three, -1 for the ground
    support_work = INTEGERS  # entry of the ledger, -1 for the ground

    marker_body = INTEGERS
    marker_x = FLOATS  # m, in the body's frame
    marker_y = FLOATS  # m

    law_kind = INTEGERS
    law_par = INTEGERS

    # joints, then drives
    joint_kind = INTEGERS
    joint_a = INTEGERS  # marker
    joint_b = INTEGERS  # marker
    joint_par = INTEGERS
    joint_law = INTEGERS
    joint_row = INTEGERS  # first row
    joint_n_row = INTEGERS
    joint_work = INTEGERS  # entry of the ledger, -1 for a joint without a drive

    row_dof = INTEGERS  # (2 n_row) first coordinate of each side, -1 if prescribed

    # pairs of row blocks that share a moving body, for S = J M^-1 J^T
    pair_i = INTEGERS  # where the block stands in J
    pair_j = INTEGERS
    pair_dof = INTEGERS
    pair_at = INTEGERS  # entry of the skyline
    first = INTEGERS  # (n_row) first column of each row of the skyline
    body_first = INTEGERS  # (n_body + 1) into body_row
    body_row = INTEGERS  # 2 row + side of every side of a row on a body
    start = INTEGERS  # (n_row) where column 0 of each row would stand

    force_kind = INTEGERS
    force_a = INTEGERS  # marker
    force_b = INTEGERS  # marker
    force_par = INTEGERS
    force_law = INTEGERS
    force_has_potential = INTEGERS
    force_work = INTEGERS  # entry of the ledger

    contact_shape = INTEGERS  # kind of the surface on a
    contact_shape_par = INTEGERS
    contact_a = INTEGERS  # marker at the origin of a's body
    contact_b = INTEGERS  # marker at the centre of b's disc
    contact_radius = FLOATS  # m, of b's disc
    contact_normal = INTEGERS  # kind of the normal law
    contact_normal_par = INTEGERS
    contact_row = INTEGERS  # constraint row of sticking, -1 if it cannot
    contact_group = INTEGERS  # contacts that share bodies or joints with each other
    contact_work = INTEGERS  # entry of the ledger: friction
    contact_normal_work = INTEGERS  # and of the normal force, -1 in a joint

    # sliding contacts inside joints
    contact_kind = INTEGERS  # TOUCH, SLOT, GUIDE or PIN
    contact_joint = INTEGERS  # first row of the joint, whose reactions are the load
    contact_length = FLOATS  # m, of a block in a guide
    contact_height = FLOATS  # m

    # friction
    contact_law = INTEGERS  # NONE, SET_VALUED or SMOOTH
    contact_friction = INTEGERS  # kind of the friction law
    contact_friction_par = INTEGERS
    contact_rate = INTEGERS  # kind of the rate of its state
    contact_state = INTEGERS  # its state, -1 for none
    contact_has_drag = INTEGERS  # whether friction remains without a load
    contact_mu0 = FLOATS  # at rest
    contact_band = FLOATS  # m/s, slip velocities that count as rest
    state_scale = FLOATS  # (n_state) m

    group_slide = INTEGERS  # (n_group + 1) first sliding contact of a joint
    group_row = INTEGERS  # (n_group) first row
    group_end = INTEGERS  # (n_group) row after the last

    guard_kind = INTEGERS
    guard_a = INTEGERS  # marker
    guard_b = INTEGERS  # marker
    guard_par = INTEGERS
    guard_direction = INTEGERS  # +1 rising, -1 falling, 0 both
    guard_is_stop = INTEGERS


class Work(Block):
    """Everything that follows from time, state and mode at one instant."""

    # from t
    law = FLOATS  # (3 n_law) value, rate, acceleration of each time law
    support = FLOATS  # (9 n_support) pose, rate, acceleration
    # from q
    turn = FLOATS  # (2 n_body) cos, sin
    arm = FLOATS  # (2 n_marker) from the body's origin, global axes
    # from q and v
    motion = FLOATS  # (9 n_marker) pose, rate, acceleration bias
    block = FLOATS  # (9 n_row) what the joints' row functions wrote
    J = FLOATS  # (6 n_row) coefficients of both bodies
    g = FLOATS  # (n_row) violation
    g_t = FLOATS  # (n_row) g' = J v + g_t
    bias = FLOATS  # (n_row) g'' = J a + bias
    wrench = FLOATS  # (8 n_force) what the forces' row functions wrote
    f = FLOATS  # (n_dof) applied force
    load = FLOATS  # (3 n_support) force on each support
    # the linear problem
    S = FLOATS  # (n_profile) J M^-1 J^T
    L = FLOATS  # (n_profile) its factors
    d = FLOATS  # (n_row) pivots
    weight = FLOATS  # (n_row) of each reaction where they are not unique
    r = FLOATS  # (n_row) scratch
    x = FLOATS  # (n_row) scratch
    lam = FLOATS  # (n_row) reactions
    a = FLOATS  # (n_dof) accelerations
    # contacts; CONTACT numbers each, see `assemble.contacts`
    contact = FLOATS
    approach = FLOATS  # (n_contact) m/s, rate of overlap at touch-down
    ratio = FLOATS  # (n_contact) slip of a joint at rest beside others, if they moved
    hold = FLOATS  # (n_contact) m/s, slip velocity at which a contact is held
    z = FLOATS  # (n_state) m, internal states of friction laws
    # sliding contacts inside joints, of one group; n = contacts, see `slides`
    response = FLOATS  # (n_row, n) reactions under unit friction forces
    new = FLOATS  # (n_row) reactions
    rub_force = FLOATS  # (n)
    rub_block = FLOATS  # (n, 6) unit friction forces on both bodies
    excess = FLOATS  # (n) scratch
    matrix = FLOATS  # (n, n) from loads to loads
    lu = FLOATS  # (n, n)
    swap = INTEGERS  # (n)
    rub = INTEGERS  # (n) the contacts that slide
    load_of = FLOATS  # (n)
    cone = FLOATS  # (n_contact, 2) direction of a pin's force
    leader = INTEGERS  # (n_group) joint that holds others of one motion, -1 for none
    part = FLOATS  # (n_group) of its friction that it uses
    coupling = NUMBER  # by how much friction changes loads, at most
    margin = NUMBER  # least determinant of that matrix over all flanks, 1 if certain
    # mode
    side = INTEGERS  # (n_contact) OPEN, PRESSING or RELEASED
    slip = INTEGERS  # (n_contact) 0 stick, +-1 sign of v_t, +-2 pinned, +-3 yielding
    flank = INTEGERS  # (n_contact) bit j set: the force of flank j is negative
    is_active = INTEGERS  # (n_row) whether a row constrains
    first = INTEGERS  # (n_row) first column of each row of the skyline in this mode
    n_row = INTEGER  # rows up to the last that constrains
    n_stuck = INTEGER  # active contact rows
    n_gripped = INTEGER  # of these, contacts of shapes
    is_quiet = INTEGER  # no guard of a joint comes near to zero in this step
    n_pinned = INTEGER  # contacts at rest whose friction is at its limit
    n_rub = INTEGER  # contacts inside joints that slide
    is_bare = INTEGER  # leave out the friction of joints
    is_chosen = INTEGER  # `margin` is that of the present flanks alone
    speed = NUMBER  # m/s, largest there was at the last switch: the scale of round-off
    spin = NUMBER  # rad/s, the same of rotations
    is_clamped = INTEGER  # normal forces are cut off at zero, whatever the side
    pivot = NUMBER  # least pivot of S relative to its diagonal entry, of joints alone
    has_lost_rank = INTEGER  # the current factors are regularised
    n_rank_loss = INTEGER  # times this happened
