"""One acceptable step by the method in use: its size, or a failure < 0.

Explicit steps aim across singular poses; implicit ones are of `radau`. A run that may
use both changes between them when steps look stiff, or calm, for a while.
"""

import math

from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.march import radau, slip, steps
from nonsmooth.kernels.march.record import is_finite
from nonsmooth.kernels.mechanics import bodies, contacts
from nonsmooth.kernels.run import (
    CANNOT_ASSEMBLE,
    NEWTON_FAILED,
    NOT_FINITE,
    STEP_TOO_SMALL,
)
from nonsmooth.kernels.tolerances import (
    ASSEMBLED,
    HOPELESS,
    MIN_STEP,
    NEARLY_SINGULAR,
)

# Steps in a row that look stiff before the implicit method takes over, and calm
# steps that clear the suspicion [HairerWanner1996]_ IV.2; calm implicit steps that
# hand back, more than a passing transient takes.
STIFF_STEPS, CALM_STEPS, HAND_BACK = 15, 6, 24
# Explicit steps between looks at the spectral radius, and the part of the method's
# reach at which a step counts as held by stability.
UNCHECKED_STEPS, HELD = 64, 0.6
# A step that ends nearer to a singular pose than this, relative to its start, runs into
# it, and is shortened. The distance from the pose goes with the root of the pivot.
APPROACH, SHORTEN = 0.04, 0.7
# A pose ahead by less than the first part of a step is crossed by it; one by less than
# the second is approached by the third part of the way, to be crossed from there. The
# first over the gap below is 1.3: no step much longer than the tolerance asks for.
CROSSED, CLOSE, APPROACHED = 0.6, 1.7, 0.55
# Middle of the widest gap between the stages of both explicit methods.
WIDEST_GAP = 0.467
# Error allowed in such a step, in units of the tolerance: round-off near the pose
# shows in the estimate.
SLACK = 1000.0
# Exponents of a controller that looks at the last error, too, times the order, and the
# least that it looks at, as in DOP853 [HairerNorsettWanner1993]_ II.4.
STEADY, STEADIER, LEAST_ERROR = 0.32, 0.2, 1e-4
# Times the reach of an explicit method beyond which no step is taken. Error control
# keeps steps near the reach where something moves, and overshoots a little.
BEYOND = 2.0
# Steps beside the reach of an explicit method, in terms of what settles by itself: its
# stages then magnify what is unsettled by 1e3 at most.
BRISTLED = 1.5
# Turn of a body in a step, rad, where guards are watched: a body that turns evenly has
# no error that would shorten steps, and nodes two radians apart see none of its gaps.
TURN = 2.0
# Explicit steps that stability alone would ask of a run that begins implicitly.
TOO_MANY_STEPS = 5e3


@kernel
def step_size(m, w, s, t_stop):
    """Return the step to try: never past t_stop, and no sliver left before it."""
    left = t_stop - s.t
    h = min(s.h, s.set.h_max, s.h_shown)
    if m.n_history > 0 and slip.is_rubbing(m, w):
        h = min(h, m.rough_step)
    if m.n_watch > 0 and s.set.h_fixed == 0.0:
        h = min(h, TURN / bodies.fastest_turn(m, at(s.y, m.n_dof)))
    if h >= left:
        return left
    # Two equal steps rather than a full one and a sliver.
    return 0.5 * left if h > 0.75 * left else h


@kernel
def land_explicit(m, w, s, tb, h):
    """Project the end of an explicit step; y' there goes to K[n_stage].

    Returns whether the constraints could be met.
    """
    left = steps.land(m, w, s, s.t + h, s.K[tb.n_stage])
    return is_assembled(s, left)


@kernel
def is_assembled(s, left):
    """Note the violation left by a step; return whether it is acceptable."""
    if s.set.is_projected and not left <= ASSEMBLED * s.set.size:
        return False
    s.left = left
    return True


@kernel
def fail(s, h, reason):
    """Note where a step of size h fails for good; return the reason."""
    s.t_fail = s.t + h
    return float(reason)


@kernel
def is_hopeless(s, h):
    """Return whether a step that fails at this size fails for good."""
    return h < HOPELESS * max(abs(s.t), 1e-3)


@kernel
def fixed_step(m, w, s, tb, t_stop):
    """Take a step of given size; return its size, or a failure < 0."""
    left = t_stop - s.t
    # A remainder within a millionth of a step is the sum's round-off.
    h = left if left < s.set.h_fixed * (1.0 + 1e-6) else s.set.h_fixed
    steps.begin_hearing(m, s)
    steps.stages(m, w, s, tb, h)
    if not is_finite(m.n_y, s.y1):
        return fail(s, h, NOT_FINITE)
    if not land_explicit(m, w, s, tb, h):
        return fail(s, h, CANNOT_ASSEMBLE)
    return h


@kernel
def runs_into_singularity(s, h, t_stop):
    """Return whether a step ends much nearer to a singular pose than it began.

    Close to such a pose a state can be projected, and its accelerations found, with
    few digits only. A step should end before it or beyond; one that is bound to end
    there, at t_stop, has no choice.
    """
    is_bound = h >= t_stop - s.t
    is_near = s.pivot_end < NEARLY_SINGULAR and s.pivot_end < APPROACH * s.pivot
    return not is_bound and is_near


@kernel
def aim(s, h):
    """Return a step that takes a singular pose ahead in its stride, and its tolerance.

    The root of the least pivot goes to zero linearly there, which tells when. A step
    with the pose in the widest gap between its stages keeps them all away from it;
    if that would be too long, a shorter step comes first.
    """
    if s.pivot > NEARLY_SINGULAR or s.pivot == 0.0 or not s.pivot_rate < 0.0:
        return h, 1.0
    ahead = -math.sqrt(s.pivot) / s.pivot_rate
    if ahead < CROSSED * h:
        return ahead / WIDEST_GAP, SLACK
    return (APPROACHED * ahead if ahead < CLOSE * h else h), 1.0


@kernel
def growth(m, s, error, order):
    """Return how much longer the step after one of a given error may be.

    Modes ring on, and the error of a step goes up and down with their phases: with the
    last error in view as well, hardly a step is refused in flight.
    """
    error = max(error, 1e-12)
    grow = steps.SAFETY * error ** (-1.0 / order)
    if m.n_tail > 0:
        grow *= (s.error_last * error**STEADIER) ** (STEADY / order)
        s.error_last = max(error, LEAST_ERROR)
    return grow


@kernel
def is_beyond_reach(m, w, s, tb, h):
    """Return whether a step goes far beyond stability; shorten the next if so.

    A stiff contact in balance has no error that would shorten a step, but its stages
    magnify round-off, and the dense output shows them. Steps that do not grow have been
    looked at.
    """
    if h <= BEYOND * s.h_last or steps.stiffness(m, s, tb, h) <= tb.reach:
        return False
    radius = steps.spectral_radius(m, w, s)
    if radius * h <= BEYOND * tb.reach:
        return False
    s.h = tb.reach / radius
    return True


@kernel
def explicit_step(m, w, s, tb, t_stop):
    """Find an acceptable explicit step; return its size, or a failure < 0."""
    if s.h == 0.0:
        s.h = steps.first_step(m, w, s, tb.order)
        s.error_last = 1.0
        s.h_last = 0.0
    limit, is_checked = steps.GROW, False
    while True:
        steps.begin_hearing(m, s)
        allowed = 1.0
        h = step_size(m, w, s, t_stop)
        if limit > 1.0 and h < t_stop - s.t:
            # On the first attempt only: a refused step shrinks as any other.
            h, allowed = aim(s, h)
            h = min(h, t_stop - s.t)
        if h <= MIN_STEP * abs(s.t):
            return float(STEP_TOO_SMALL)
        singular = s.t_singular
        steps.stages(m, w, s, tb, h)
        steps.raw_error(m, s, tb, h)
        error = math.inf
        reason = NOT_FINITE
        if is_finite(m.n_y, s.y1):
            reason = CANNOT_ASSEMBLE
            if land_explicit(m, w, s, tb, h):
                error = steps.error(m, w, s)
        if error <= allowed and runs_into_singularity(s, h, t_stop):
            # Not an error: the step stays as long next time.
            s.n_reject += 1
            s.h = h
            h = SHORTEN * h
            steps.stages(m, w, s, tb, h)
            land_explicit(m, w, s, tb, h)
            return h
        if error <= allowed:
            if not is_checked and is_beyond_reach(m, w, s, tb, h):
                is_checked = True
                s.n_reject += 1
                continue
            grow = min(limit, growth(m, s, error, tb.order))
            # A step cut short by t_stop says nothing against a larger one.
            s.h = max(h * grow, s.h if h < 0.9 * s.h else 0.0)
            s.h_last = h
            return h
        s.n_reject += 1
        limit = 1.0
        if m.n_tail > 0 or m.n_state > 0:
            # Too long a step for a stiff mode, or bristle, ends in no pose of the
            # motion.
            s.t_singular = singular
        shrink = steps.SHRINK
        if error < 1e300:
            shrink = max(shrink, steps.SAFETY * error ** (-1.0 / tb.order))
        elif is_hopeless(s, h):
            return fail(s, h, reason)
        s.h = h * shrink


@kernel
def implicit_step(m, w, nw, t_stop):
    """Find an acceptable implicit step; return its size, or a failure < 0."""
    s = nw.step
    if s.h == 0.0:
        s.h = steps.first_step(m, w, s, 4)
    is_retry = 1 if nw.h_last == 0.0 else 0
    limit = steps.GROW
    while True:
        steps.begin_hearing(m, s)
        h = step_size(m, w, s, t_stop)
        if h <= MIN_STEP * abs(s.t):
            return float(STEP_TOO_SMALL)
        if not radau.solve_stages(m, w, nw, h):
            if is_hopeless(s, h):
                return fail(s, h, NEWTON_FAILED)
            s.n_reject += 1
            s.h = 0.5 * h
            continue
        error = max(radau.error(m, w, nw, h, is_retry), 1e-10)
        if error <= 1.0:
            if not is_assembled(s, radau.finish(m, w, nw, h)):
                if is_hopeless(s, h):
                    return fail(s, h, CANNOT_ASSEMBLE)
                s.n_reject += 1
                s.h = 0.2 * h
                continue
            error = max(error, nw.ledger_error)
        grow = steps.SAFETY * error ** (-0.25)
        if error <= 1.0:
            break
        s.n_reject += 1
        is_retry = 1
        limit = 1.0
        s.h = h * max(steps.SHRINK, grow)
    next_implicit(m, nw, h, error, grow, limit)
    return h


@kernel
def next_implicit(m, nw, h, error, grow, limit):
    """Choose the next implicit step, and whether its Jacobian is kept."""
    s = nw.step
    if nw.h_last > 0.0:
        # Gustafsson's predictive control.
        grow *= min(1.0, (h / nw.h_last) * (nw.error_last / error) ** 0.25)
    grow = min(limit, max(steps.SHRINK, grow))
    nw.jacobian_age += 1
    if not radau.keeps_jacobian(m, nw):
        nw.has_jacobian = 0
    elif 1.0 <= grow < 1.2:
        # Not worth new factors.
        grow = 1.0
    nw.is_jacobian_new = 0
    s.h = max(h * grow, s.h if h < 0.9 * s.h else 0.0)
    nw.error_last = error


@kernel
def heed_states(m, w, r):
    """Keep the next explicit step within reach of what settles by itself: bristles.

    One that begins where they are settled may end so whatever its size, as its error
    tells; but the stages that its dense output is made of are far off.
    """
    if m.n_state == 0 or r.is_implicit or r.tableau.reach == 0.0:
        return
    decay = contacts.state_decay(m, w)
    if r.step.h * decay > BRISTLED * r.tableau.reach:
        r.step.h = BRISTLED * r.tableau.reach / decay


@kernel
def attempt(m, w, r, t_stop):
    """Take one step by the current method; return its size, or a failure < 0."""
    if r.is_implicit:
        return implicit_step(m, w, r.newton, t_stop)
    if r.tableau.is_adaptive:
        return explicit_step(m, w, r.step, r.tableau, t_stop)
    return fixed_step(m, w, r.step, r.tableau, t_stop)


# ---- which method --------------------------------------------------------------


@kernel
def go_implicit(m, r):
    """Let the implicit method take over."""
    r.is_implicit = 1
    r.newton.has_jacobian = 0
    radau.forget_step(m, r.newton)


@kernel
def choose_method(m, r, h):
    """Count stiff and calm steps; change method when the count is reached."""
    s, nw, tb = r.step, r.newton, r.tableau
    if r.is_implicit:
        # A step that is still growing, after a start or an event, says nothing.
        is_calm = h * nw.radius < radau.CALM and s.h < 2.0 * h
        r.n_calm = r.n_calm + 1 if is_calm else 0
        if r.n_calm >= HAND_BACK:
            r.is_implicit = 0
            r.n_calm = 0
            r.n_stiff = 0
        return
    r.n_unchecked += 1
    if steps.stiffness(m, s, tb, h) > tb.reach:
        r.n_stiff += 1
        r.n_calm = 0
        if r.n_stiff >= STIFF_STEPS:
            r.n_stiff = 0
            go_implicit(m, r)
    else:
        r.n_calm += 1
        if r.n_calm >= CALM_STEPS:
            r.n_stiff = 0


@kernel
def check_stiffness(m, w, r, h, t_stop):
    """Look at the spectral radius now and then.

    At a tight tolerance the test at every step drowns in round-off.
    """
    if r.n_unchecked < UNCHECKED_STEPS or r.is_implicit or not r.step.set.is_auto:
        return
    r.n_unchecked = 0
    radius = steps.spectral_radius(m, w, r.step)
    is_long = t_stop - r.step.t > UNCHECKED_STEPS * h
    if h * radius > HELD * r.tableau.reach and is_long:
        go_implicit(m, r)
