"""Laws that are powers of the depth, integrated along a piece in closed form.

    force = F (phi / phi_0)^n + G (phi / phi_0)^m (rate of depth)

as all of ours are, with F and G the values of the law at one depth. On a piece the
depth is straight: int s^k phi^n ds, for k = 0, 1, 2, is a difference of powers where it
falls to less than half, and a series about the middle where it hardly falls. Between
the two differences lose digits, and points are taken.
"""

from nonsmooth.kernels.abi import call_normal, kernel

# Places in the head of a pair's parameters: the degrees of the elastic part, 0 for a
# law that is no power, and of the damping, whether there is any, and the powers of
# NO_DEPTH and SHALLOW.
DEGREE, DAMPING, HAS_DAMPING = 6, 7, 8
NONE_N, NONE_M, SHALLOW_N, SHALLOW_M = 9, 10, 11, 12
# Part of its depth to which a piece falls for differences of powers: they lose a digit.
STEEP = 0.5


@kernel
def near_power(n, t):
    """Return (1 + t)^n for |t| <= 0.006 to round-off: the next term is t^7."""
    more = 1.0 + (n - 5.0) * t / 6.0
    more = 1.0 + (n - 4.0) * t / 5.0 * more
    more = 1.0 + (n - 3.0) * t / 4.0 * more
    more = 1.0 + (n - 2.0) * t / 3.0 * more
    more = 1.0 + (n - 1.0) * t / 2.0 * more
    return 1.0 + n * t * more


@kernel
def even_moments(n, e):
    """Return int s^k (1 - e x)^n ds, x = s - 1/2, for k = 0, 1, 2; e up to 0.01."""
    two = n * (n - 1.0) * e * e
    four = two * (n - 2.0) * (n - 3.0) * e * e
    zeroth = 1.0 + two / 24.0 + four / 1920.0
    first = -n * e / 12.0 - two * (n - 2.0) * e / 480.0
    second = 1.0 / 12.0 + two / 160.0 + four / 10752.0
    return zeroth, 0.5 * zeroth + first, 0.25 * zeroth + first + second


@kernel
def steep_moments(n, fall, last, begin):
    """Return int s^k (1 - fall s)^n ds for k = 0, 1, 2; last/begin = (1 - fall)^n."""
    rest = 1.0 - fall
    power = last / begin * rest if begin != 0.0 else 0.0
    one = (1.0 - power) / (fall * (n + 1.0))
    power *= rest
    two = (1.0 - power) / (fall * (n + 2.0))
    power *= rest
    three = (1.0 - power) / (fall * (n + 3.0))
    return one, (one - two) / fall, (one - two - two + three) / (fall * fall)


@kernel
def values(law, par, p, o, phi):
    """Return the elastic force at a depth, and what a unit of its rate adds."""
    force = call_normal(law, par, phi, 0.0, o.approach)
    if p[HAS_DAMPING] == 0.0:
        return force, 0.0
    return force, call_normal(law, par, phi, 1.0, o.approach) - force


@kernel
def near(p, middle, t):
    """Return force and damping at 1 + t of the depth where they are known."""
    return (
        middle[0] * near_power(p[DEGREE], t),
        middle[1] * near_power(p[DAMPING], t),
    )


@kernel
def pressed(p, deep, rest, rate, slope):
    """Return from where to where a law presses that pulls at one end; 0, 0 if unknown.

    It changes its sign with F (phi / phi_0)^(n - m) + G (rate of depth), which is
    straight if the degrees differ by one, or are equal.
    """
    more = p[DEGREE] - p[DAMPING]
    if more != 0.0 and more != 1.0:
        return 0.0, 0.0
    begin = deep[0] + rate * deep[1]
    last = deep[0] * (rest if more == 1.0 else 1.0) + (rate + slope) * deep[1]
    if begin * last >= 0.0:
        return 0.0, 0.0
    place = begin / (begin - last)
    return (0.0, place) if begin > 0.0 else (place, 1.0)


@kernel
def even_changes(n, force, phi, e, rate, slope):
    """Return int p' phi' ds and int p' phi' s ds from the force at the middle."""
    zeroth, first, second = even_moments(n - 1.0, e)
    force *= n / phi
    return force * (rate * zeroth + slope * first), force * (
        rate * first + slope * second
    )
