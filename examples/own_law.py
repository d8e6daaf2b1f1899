"""A force law and a time law of one's own, compiled like the built-in ones.

A row function gets plain numbers through pointers: `p` the fields in order, `a` and
`b` the motion (x, y, theta and their rates) of the two markers. It writes all of `out`.
"""

import math
from dataclasses import dataclass

from nonsmooth import Force, Model, PointMass, TimeLaw, TranslationDrive, simulate


@dataclass(frozen=True, kw_only=True)
class AirDrag(Force):
    """F = -coefficient |v| v, with v of b relative to a."""

    coefficient: float  # N s^2/m^2

    @staticmethod
    def wrench(p, s, t, a, b, out):
        vx, vy = b[3] - a[3], b[4] - a[4]
        drag = p[0] * math.hypot(vx, vy)
        out[0], out[1], out[2] = -drag * vx, -drag * vy, 0.0  # on b: fx, fy, torque
        out[3], out[4], out[5] = -out[0], -out[1], 0.0  # on a
        out[6] = out[7] = 0.0  # no potential


@dataclass(frozen=True, kw_only=True)
class Cycloid(TimeLaw):
    """s = stroke (u - sin(2 pi u)/(2 pi)), u = t / duration: a cam's rise."""

    stroke: float  # m
    duration: float  # s

    @staticmethod
    def evaluate(p, t, s):
        turn = 2.0 * math.pi / p[1]
        s[0] = p[0] * (t / p[1] - math.sin(turn * t) / (2.0 * math.pi))
        s[1] = p[0] / p[1] * (1.0 - math.cos(turn * t))
        s[2] = p[0] / p[1] * turn * math.sin(turn * t)


MASS, DRAG, STROKE, DURATION = 1.5, 0.8, 2.0, 1.0  # SI units

model = Model(
    title="a carriage against the wind",
    bodies=(PointMass(name="carriage", mass=MASS),),
    drives=(
        TranslationDrive(
            name="pusher", b="carriage", law=Cycloid(stroke=STROKE, duration=DURATION)
        ),
    ),
    forces=(AirDrag(name="wind", b="carriage", coefficient=DRAG),),
)
result = simulate(model, until=DURATION)

if __name__ == "__main__":
    result.plot(["carriage.x", "pusher.force", "wind.force_x"], "own_law.png")
