"""The packed model, and what follows from it at one instant.

Bodies are numbered with the moving ones first; the others, supports and the ground,
have their motion prescribed. `*_par` points into one pool of parameters, `*_law` to the
first of an element's time laws, `*_kind` into the addresses of row functions.
"""

from nonsmooth.kernels.abi import (
    INTEGER,
    NUMBER,
    Block,
    addresses,
    floats,
    integers,
    records,
)
from nonsmooth.kernels.complementarity.box import Box
from nonsmooth.kernels.complementarity.fixed_point import Search
from nonsmooth.kernels.friction.modes import Mode
from nonsmooth.kernels.mechanics.outlines import Press

# Where a contact is: between shapes, of a disc on a surface; inside a joint, of a point
# in a slot, a block in a guide, a pin in a hole; or again between shapes, of outlines,
# of the nodes of a patch; again inside a joint, of the nodes of an elastic block.
TOUCH, SLOT, GUIDE, PIN, FLAT, PATCH, FACES = range(7)
# What asks for a marker on a tail: results only; patches that are pressed, too; more.
FOR_RESULTS, FOR_PATCHES, FOR_ALL = 0, 1, 2
# Its friction: none, decided between stick and slip, or a function of the state.
NONE, SET_VALUED, SMOOTH = 0, 1, 2
# What a guard watches; the table is in `march.guards`.
USER, GAP, FORCE, FLANK, FORWARD, BACKWARD, GROUP, MARGIN = range(8)


class Tables(Block):
    """The model as constant arrays; nothing here changes during a run."""

    n_body = INTEGER
    n_moving = INTEGER  # of these, bodies with coordinates
    n_support = INTEGER
    n_dof = INTEGER
    n_tail = INTEGER  # bodies with coordinates beside those of their frame
    n_width = INTEGER  # coordinates of a body, at most
    n_marker = INTEGER
    n_shape = INTEGER  # 3 for each marker and coordinate of its body's tail
    n_law = INTEGER
    n_joint = INTEGER
    n_row = INTEGER
    n_block = INTEGER  # coefficients of all rows
    n_tie = INTEGER  # rows that may depend on others and still be kept apart
    n_side = INTEGER  # sides of rows on moving bodies
    n_pair = INTEGER
    n_joint_pair = INTEGER  # of these, without a contact's row
    n_profile = INTEGER
    n_force = INTEGER
    n_touch = INTEGER  # contacts of shapes
    n_flat = INTEGER  # of these, pairs of outlines
    n_outline = INTEGER  # numbers that the largest such pair is worked out in
    n_patch = INTEGER  # of these, of patches of flexible bodies
    n_area = INTEGER  # blocks in guides
    n_node = INTEGER  # numbers that patches and blocks are worked out in
    n_node_mark = INTEGER  # integers
    n_contact = INTEGER  # these, then the sliding contacts inside joints
    n_state = INTEGER  # internal states of friction laws
    n_history = INTEGER  # numbers that rough patches remember
    n_group = INTEGER
    n_largest = INTEGER  # contacts in the largest group
    n_slide = INTEGER  # joints with friction in a group, at most
    n_user = INTEGER  # guards of the user's events
    n_heard = INTEGER  # guards before those of joints
    n_watch = INTEGER  # all guards
    n_work = INTEGER
    n_y = INTEGER  # length of the state (q, v, z, work, history)
    n_par = INTEGER
    n_kind = INTEGER

    par = floats("n_par")  # parameters of every element
    address = addresses("n_kind")  # of each kind's row function

    weight_of_all = NUMBER  # N, 0 without gravity
    moment = NUMBER  # kg m, mass of the model times its size
    energy = NUMBER  # J, of the whole model turning at 1 rad/s
    mass = floats("n_dof")  # masses and inertias; 0 for what cannot turn
    minv = floats("n_dof")  # inverse masses; 0 for what cannot accelerate
    weight = floats("n_dof")  # force of gravity
    scale = floats("n_dof")  # size of each coordinate: m, m, rad

    body_dof = integers("n_body")  # first coordinate, -1 if prescribed
    body_n = integers("n_body")  # coordinates
    dof_body = integers("n_dof")
    body_support = integers("n_body")  # support, -1 if it has coordinates
    tail_body = integers("n_tail")
    tail_par = integers("n_tail")
    tail_kind = integers("n_tail, 3")  # weigh, inner, place
    tail_work = integers("n_tail")  # entry of the ledger
    body_tail = integers("n_body")  # -1 for none
    support_law = integers("n_support")  # first of three, -1 for the ground
    support_work = integers("n_support")  # entry of the ledger, -1 for the ground

    marker_body = integers("n_marker")
    marker_x = floats("n_marker")  # m, in the body's frame
    marker_y = floats("n_marker")  # m
    marker_par = integers("n_marker")  # of a body with a tail: x, y, then its own
    marker_shape = integers("n_marker")  # first entry of `Work.shape`
    marker_use = integers("n_marker")  # FOR_ALL, FOR_PATCHES, FOR_RESULTS

    law_kind = integers("n_law")
    law_par = integers("n_law")

    # joints, then drives
    joint_kind = integers("n_joint")
    joint_a = integers("n_joint")  # marker
    joint_b = integers("n_joint")  # marker
    joint_par = integers("n_joint")
    joint_law = integers("n_joint")
    joint_row = integers("n_joint")  # first row
    joint_n_row = integers("n_joint")
    joint_work = integers("n_joint")  # entry of the ledger, -1 for one without a drive

    # the two sides of a row
    row_side = integers("n_row, 4")  # first coordinates, -1 if prescribed; places in J
    row_n = integers("n_row, 2")  # coordinates

    # pairs of row blocks that share a moving body, for S = J M^-1 J^T
    pair = integers("n_pair, 4")  # where either stands in J, coordinate, entry of S
    first = integers("n_row")  # first column of each row of the skyline
    start = integers("n_row")  # where column 0 of each row would stand
    body_first = integers("n_moving + 1")  # into body_row
    body_row = integers("n_side, 2")  # every side of a row on a body: row, place in J

    force_kind = integers("n_force")
    force_a = integers("n_force")  # marker
    force_b = integers("n_force")  # marker
    force_par = integers("n_force")
    force_law = integers("n_force")
    force_has_potential = integers("n_force")
    force_work = integers("n_force")  # entry of the ledger

    contact_shape = integers("n_contact")  # kind of the surface on a, -1 for outlines
    contact_shape_par = integers("n_contact")
    contact_a = integers("n_contact")  # marker at the origin of a's body
    contact_b = integers("n_contact")  # marker at the centre of b's disc, or its origin
    contact_flat = integers("n_contact")  # which pair of outlines, -1 for none
    contact_piece = integers("n_contact, 2")  # pairs of the same bodies: first, end
    contact_patch = integers("n_contact, 5")  # see `patches`; -1 for none
    rough_step = NUMBER  # s, longest step while a rough patch presses
    contact_deepest = floats("n_contact")  # m, to which shapes may overlap
    # m, of b's outline about its origin, 0 for a disc; negative on lines.
    contact_reach = floats("n_contact")
    # The first contact of the same disc with segments of the same body; -1 without.
    contact_face = integers("n_contact")
    has_backs = INTEGER  # whether there is a segment
    contact_radius = floats("n_contact")  # m, of b's disc
    contact_normal = integers("n_contact")  # kind of the normal law
    contact_normal_par = integers("n_contact")
    contact_row = integers("n_contact")  # constraint row of sticking, -1 if it cannot
    contact_group = integers("n_contact")  # those that share bodies or joints
    contact_work = integers("n_contact")  # entry of the ledger: friction
    contact_normal_work = integers("n_contact")  # of the normal force, -1 in a joint
    contact_press = integers("n_contact")  # first guard of what presses, -1 for none
    contact_rub = integers("n_contact")  # first guard of friction, -1 for none

    # sliding contacts inside joints
    contact_kind = integers("n_contact")  # TOUCH, SLOT, ...
    contact_joint = integers("n_contact")  # first row of the joint: the load
    contact_length = floats("n_contact")  # m, of a block in a guide
    contact_height = floats("n_contact")  # m
    contact_area = integers("n_contact")  # which block in a guide, -1 for none
    contact_faces = integers("n_contact, 3")  # of an elastic one: see `faces`

    # friction
    contact_law = integers("n_contact")  # NONE, SET_VALUED or SMOOTH
    contact_friction = integers("n_contact")  # kind of the friction law
    contact_friction_par = integers("n_contact")
    contact_rate = integers("n_contact")  # kind of the rate of its state
    contact_state = integers("n_contact")  # its state, -1 for none
    contact_has_drag = integers("n_contact")  # whether friction remains without a load
    contact_mu0 = floats("n_contact")  # at rest
    contact_band = floats("n_contact")  # m/s, slip velocities that count as rest
    state_scale = floats("n_state")  # m

    group_slide = integers("n_group + 1")  # first sliding contact of a joint
    group_row = integers("n_group")  # first row
    group_end = integers("n_group")  # row after the last
    group_guard = integers("n_group")  # of redundant friction at rest, -1 for none

    guard_kind = integers("n_user")
    guard_a = integers("n_user")  # marker
    guard_b = integers("n_user")  # marker
    guard_par = integers("n_user")
    guard_direction = integers("n_user")  # +1 rising, -1 falling, 0 both
    guard_is_stop = integers("n_user")

    watch_kind = integers("n_watch")  # USER, GAP, ...
    watch_owner = integers("n_watch")  # event, or contact of a group, -1 for the margin


class Contact(Block):
    """A contact at one instant."""

    gap = NUMBER  # m
    n_x = NUMBER  # normal, from a to b
    n_y = NUMBER
    turn = NUMBER  # rad/s, of the normal
    gap_rate = NUMBER  # m/s
    v_t = NUMBER  # m/s
    force = (
        NUMBER  # N, the normal law's value, not cut off; of a joint along its normal
    )
    lam_n = NUMBER  # N, the load: never negative
    lam_t = NUMBER  # N
    arm_x = NUMBER  # m, from marker a to the contact point
    arm_y = NUMBER  # m
    slip_bias = NUMBER  # m/s^2, v_t' = G_a a_a + G_b a_b + this
    phi = NUMBER  # of a joint that slides: lam_t = -(phi lam_n + drag)
    drag = NUMBER  # N
    # N, of the flanks of a block in a guide, or of a point in a slot; of the first and
    # last node of a patch
    front = NUMBER
    rear = NUMBER
    # for results
    point_x = NUMBER  # m, where the force acts, global
    point_y = NUMBER
    width = NUMBER  # m, extent of the pressed zone along the tangent
    n_closed = NUMBER  # nodes of a patch that press
    n_stuck = NUMBER  # of these, nodes that stick
    stored = NUMBER  # J, in the flexibility of a patch


class Work(Block):
    """Everything that follows from time, state and mode at one instant."""

    # from t
    law = floats("n_law, 3")  # value, rate, acceleration of each time law
    support = floats("n_support, 9")  # pose, rate, acceleration
    # from q
    turn = floats("n_body, 2")  # cos, sin
    arm = floats("n_marker, 2")  # from the body's origin, global axes
    shape = floats("n_shape")  # of a marker: d(x, y, theta)/d(tail), global axes
    inertia = floats("n_tail")  # of the frame's rotation
    is_coupled = integers("n_tail")  # whether one of the next is not zero
    couple = floats("n_dof")  # of a tail with its frame's rotation, over its own mass
    minv = floats("n_dof")  # inverse masses, of the frame's rotation without its tail
    coordinate = floats("2 * n_dof")  # and rates, of bodies with a tail, for patches
    local = floats("6 + 5 * n_width")  # scratch: a marker in its body's frame
    # from q and v
    motion = floats("n_marker, 9")  # pose, rate, acceleration bias
    block = floats("n_row, 9")  # what the joints' row functions wrote
    J = floats("n_block")  # coefficients of both bodies, reduced: see `bodies`
    g = floats("n_row")  # violation
    g_t = floats("n_row")  # g' = J v + g_t
    bias = floats("n_row")  # g'' = J a + bias
    wrench = floats("n_force, 8")  # what the forces' row functions wrote
    # forces of tails, their potential and power; then what they weigh
    inner = floats("n_tail, 3 * n_width + 2")
    f = floats("n_dof")  # applied force
    load = floats("n_support, 3")  # force on each support
    # the linear problem
    S = floats("n_profile")  # J M^-1 J^T
    L = floats("n_profile")  # its factors
    d = floats("n_row")  # inverse pivots
    weight = floats("n_row")  # of each reaction where they are not unique
    r = floats("n_row")  # scratch
    x = floats("n_row")  # scratch
    # rows that depend on others, where contacts stick
    tied = integers("n_tie")
    null = floats("n_tie * n_row")  # reactions without effect
    gram = floats("n_tie * n_tie")  # their products
    gram_swap = integers("n_tie")
    null_part = floats("n_tie")
    n_tied = INTEGER
    is_tied = INTEGER  # rows that depended on others at the start of the arc still do
    lam = floats("n_row")  # reactions
    a = floats("n_dof")  # accelerations
    # contacts
    contact = records(Contact, "n_contact")
    press = records(Press, "n_flat")
    outline = floats("n_outline")  # scratch: two outlines
    node = floats("n_node")  # scratch: patches, elastic blocks
    node_mark = integers("n_node_mark")  # closed nodes of these, segments
    ratio = floats("n_contact")  # slip of a joint at rest beside others, if they moved
    z = floats("n_state")  # m, internal states of friction laws
    history = floats("n_history")  # of rough patches, at the start of the step
    # sliding contacts inside joints, of one group; n of them slide, see `slides`
    response = floats("n_row * (n_slide + 3)")  # (n_row, n) reactions, see `slides`
    new = floats("n_row")  # reactions
    bent = floats("n_row")  # what friction added to them, at the last evaluation
    rub_block = floats("n_slide, 2, n_width")  # unit friction on both bodies, reduced
    excess = floats("n_slide")  # scratch
    matrix = floats("n_slide * n_slide")  # from loads to loads
    lu = floats("n_slide * n_slide")
    swap = integers("n_slide")
    # of many, see `chains`
    slope = floats("n_slide, 2")  # of loads, by the reactions of their joint
    lower = floats("n_profile")  # S with friction, and its factors
    upper = floats("n_profile")
    pivots = floats("n_row")
    reach = integers("n_row")  # scratch
    spare = floats("n_row")  # scratch
    rub = integers("n_slide")  # the contacts that slide
    load_of = floats("n_slide")
    cone = floats("n_contact, 9")  # tangents of loads that are curved, see `slides`
    # m, greatest overlap of a disc with the segments of a body, at its first contact.
    sunk = floats("n_contact")
    heard = floats("n_watch")  # guards of joints, at the last evaluation
    coupling = NUMBER  # by how much friction changes loads, at most
    margin = NUMBER  # least determinant of that matrix over all flanks, 1 if certain
    # contacts of one group that stick, see `friction.groups`
    box = Box
    search = Search  # for loads that depend on friction
    held = integers("n_largest")
    held_A = floats("n_largest * n_largest")  # (n, n) slip rates under unit friction
    held_free = floats("n_largest")  # the same of each alone, without joints
    held_limit = floats("n_largest")
    held_force = floats("n_largest")
    held_first = floats("n_largest")  # that of the first sharing
    held_last = floats("n_largest")  # before it was shared
    held_base = floats("n_largest, 2")  # reactions of joints, without this friction
    held_reaction = floats("2 * n_largest * n_largest")  # (n, 2, n) under unit friction
    # joints that slide beside are listed after them, see `friction.response`
    n_beside = INTEGER
    held_own = floats("n_largest * n_largest")  # (n, n) slip rates, loads aside
    held_alone = floats("2 * n_largest * n_largest")  # (.., 2, n) reactions, the same
    held_beside = floats("n_largest * n_slide")  # (n, n_beside) slips under friction
    held_change = floats("n_slide * n_largest")  # (n_beside, n) loads that follow
    held_at = floats("n_largest")  # friction where tangents are
    held_now = floats("n_largest, 2")  # reactions there
    held_load = floats("n_slide")  # loads there
    held_miss = floats("n_largest")  # slip rates that are to be made up for
    held_a = floats("n_dof")  # scratch
    held_motion = floats("n_largest * n_dof")  # (n, n_dof) under unit friction
    held_P = floats("n_largest * n_largest")  # how limits change with friction
    held_inverse = floats("n_largest * n_largest")
    held_bent = floats("n_largest * n_largest")  # A in terms of it
    held_swap = integers("n_largest")
    # mode
    mode = records(Mode, "n_contact")
    least_use = INTEGER  # of markers that are moved: FOR_RESULTS moves all
    is_blind = INTEGER  # gaps of open patches are not asked for
    is_active = integers("n_row")  # whether a row constrains
    first = integers("n_row")  # first column of each row of the skyline in this mode
    n_active = INTEGER  # rows up to the last that constrains
    n_stuck = INTEGER  # active contact rows
    n_gripped = INTEGER  # of these, contacts of shapes
    is_quiet = INTEGER  # no guard of a joint comes near to zero in this step
    n_rub = INTEGER  # contacts inside joints that slide
    is_bare = INTEGER  # leave out the friction of joints
    is_chosen = INTEGER  # `margin` is that of the present flanks alone
    force = NUMBER  # N, scale of round-off: the weight, or inertia without gravity
    speed = NUMBER  # m/s, largest there was at the last switch: the scale of round-off
    spin = NUMBER  # rad/s, the same of rotations
    top_speed = NUMBER  # m/s, largest there was at any switch of the run
    top_spin = NUMBER  # rad/s
    is_clamped = INTEGER  # normal forces are cut off at zero, whatever the side
    pivot = NUMBER  # least pivot of S relative to its diagonal entry, of joints alone
    has_lost_rank = INTEGER  # the current factors are regularised
    n_rank_loss = INTEGER  # times this happened
