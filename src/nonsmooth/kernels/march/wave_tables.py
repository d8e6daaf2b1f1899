"""Tables and state of the scheme `waves`; `waves` says what they mean."""

from nonsmooth.kernels.abi import INTEGER, NUMBER, Block, floats, integers

# Kinds of what a node touches.
CHAIN, NODE, LINE, CIRCLE = range(4)
# What is recorded of a contact, in the order of `columns`.
N_CONTACT = 12
# How a call ended.
DONE, DIVERGED, UNSOLVED = range(3)
# Kinds of events.
TOUCH_DOWN, SEPARATE = 0, 1


class Solid(Block):
    """Bodies as nodes, and what touches; read only."""

    n_node = INTEGER
    n_body = INTEGER
    n_point = INTEGER
    n_gauge = INTEGER
    n_contact = INTEGER
    n_slave = INTEGER
    n_raw = INTEGER  # numbers in a row of the record
    h = NUMBER  # s
    fall_x = NUMBER  # m/s^2
    fall_y = NUMBER

    first = integers("n_node + 1")  # blocks of K of each node, with nodes behind it
    column = integers("n_block")
    block = floats("n_block, 4")  # N/m, each by columns: x and y together
    rest = floats("n_node, 4")  # N/m, sums of its rows: 0 but for hoops of revolution
    place = floats("n_node, 2")  # m
    mass = floats("n_node")  # kg
    minv = floats("n_node, 2")  # 1/kg, 0 where held
    arm = floats("n_node, 2")  # kg m, mass times its arm, turned left; body's centre

    body_first = integers("n_body + 1")  # its nodes
    body_mass = floats("n_body")
    body_inertia = floats("n_body")  # 0 of one that does not turn
    body_start = floats("n_body, 4")  # x and y of its mass centre, angle, its rate
    body_way = floats("n_body, 4")  # 2 x 2, on which its mean motion is projected
    point_first = integers("n_point + 1")
    point_place = floats("n_point, 2")
    point_node = integers("n_entry")
    point_weight = floats("n_entry")
    gauge_first = integers("n_gauge + 1")
    gauge_node = integers("n_strain")
    gauge_weight = floats("n_strain, 2")

    contact_kind = integers("n_contact")
    contact_first = integers("n_contact + 1")  # its nodes b
    contact_chain = integers("n_contact, 2")  # begin and end of its chain
    contact_owner = integers("n_contact")  # node that carries the surface, -1 ground
    contact_surface = floats("n_contact, 5")  # point, normal; centre, radius
    slave = integers("n_slave")  # node
    stiffness = floats("n_slave")  # N/m of a penalty; 0: a constraint
    chain = integers("n_chain")  # nodes


class State(Block):
    """What moves, and what was recorded of it."""

    n = INTEGER  # steps done
    n_sweep = INTEGER  # most sweeps of a step
    kinetic = NUMBER  # J, at the last recorded instant
    potential = NUMBER
    u = floats("n_node, 2")  # m, at t = n h
    v = floats("n_node, 2")  # m/s, half a step before; at the start, at it
    old = floats("n_node, 2")  # m/s, of the step before
    force = floats("n_node, 2")  # N, of nodes before; 0 between steps
    lam = floats("n_slave")  # N
    gap = floats("n_slave")  # m, at the end of the step
    normal = floats("n_slave, 2")
    segment = integers("n_slave")  # where in its chain a node was last
    part = floats("n_slave")  # how far along it
    is_near = integers("n_slave")  # whether it has something to touch
    work = floats("n_contact")  # J, done so far
    is_closed = integers("n_contact")
    edge = floats("n_contact")  # N, largest at the ends of its patch

    stride = INTEGER  # steps between two rows
    n_row = INTEGER
    rows = floats("n_capacity, n_raw")
    energies = floats("n_capacity, 2")  # J, kinetic and potential
    works = floats("n_capacity, n_contact")  # J
    n_event = INTEGER  # also of those that have no place
    n_events = INTEGER  # places
    events = floats("n_events, 3")  # step, contact, kind
