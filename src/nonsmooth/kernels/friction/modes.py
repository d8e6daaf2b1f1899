"""The mode of a contact: which side it is on, what holds it, and which way it slips.

A mode is one record. Of a contact of shapes `side` tells whether it presses; one inside
a joint always does. `grip` tells what its friction is, `sign` against which slip:

    SLIP       sign of v_t        -sign limit(lam_n, |v_t|)
    STICK      0                  a reaction: its row holds v_t = drift
    YIELDING   of the slip        at the static limit, within the band that counts as
                                  rest
    HELD       0                  none: joints and drives alone hold it

A contact that cannot stick has no grip, and keeps STICK.
"""

from nonsmooth.kernels.abi import INTEGER, NUMBER, Block, kernel

# Sides: apart, pressing, or overlapping without force.
OPEN, PRESSING, RELEASED = 0, 1, 2
# Grips.
STICK, SLIP, YIELDING, HELD = 0, 1, 2, 3


class Mode(Block):
    """The mode of one contact; what a run logs of it."""

    side = INTEGER
    grip = INTEGER
    sign = INTEGER
    flank = INTEGER  # bit j set: the force of flank j of a joint is negative
    approach = NUMBER  # m/s, rate of overlap at touch-down
    drift = NUMBER  # m/s, slip velocity at which it is held
    is_behind = INTEGER  # a segment is seen from behind
    is_tied = INTEGER  # it sticks where rows depend on each other, as on one line


@kernel
def set_grip(c, grip, sign):
    """Set what holds a contact, against which slip."""
    c.grip = grip
    c.sign = sign


@kernel
def sign_of(x):
    """Return +1 or -1; zero counts as negative."""
    return 1 if x > 0.0 else -1


@kernel
def is_slipping(c):
    """Return whether a contact slips, beyond any band."""
    return c.grip == SLIP


@kernel
def is_moving(c):
    """Return whether a contact slips or yields."""
    return c.grip == SLIP or c.grip == YIELDING


@kernel
def is_free(c):
    """Return whether the friction of a contact is known, not found with reactions."""
    return c.grip != STICK and c.grip != HELD


@kernel
def copy_mode(a, b):
    """Make mode b equal to mode a."""
    b.side = a.side
    b.grip = a.grip
    b.sign = a.sign
    b.flank = a.flank
    b.approach = a.approach
    b.drift = a.drift
    b.is_behind = a.is_behind
    b.is_tied = a.is_tied
