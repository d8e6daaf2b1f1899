"""What a user's own law costs beside a built-in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from benchmarks.common import Row, cpu_time
from nonsmooth import Force, Model, PointMass, SpringDamper, simulate
from nonsmooth.pack import pack


@dataclass(frozen=True, kw_only=True)
class OwnSpring(Force):
    """A spring and damper, written as a user would."""

    has_potential: ClassVar[bool] = True

    stiffness: float
    damping: float
    rest_length: float

    @staticmethod
    def wrench(p, s, t, a, b, out):
        """Write force and couple on both markers."""
        dx, dy = b[0] - a[0], b[1] - a[1]
        length = (dx * dx + dy * dy) ** 0.5
        ux, uy = dx / length, dy / length
        rate = ux * (b[3] - a[3]) + uy * (b[4] - a[4])
        stretch = length - p[2]
        pull = p[0] * stretch + p[1] * rate
        out[0] = -pull * ux
        out[1] = -pull * uy
        out[2] = 0.0
        out[3] = pull * ux
        out[4] = pull * uy
        out[5] = 0.0
        out[6] = 0.5 * p[0] * stretch * stretch
        out[7] = -p[1] * rate * rate


def chain(kind: type[SpringDamper] | type[OwnSpring]) -> Model:
    """Return ten masses in a row joined by springs of the given kind."""
    masses = [
        PointMass(name=f"m{k}", mass=1.0, position=(k + 1.0, 0.1 * k))
        for k in range(10)
    ]
    springs = [
        kind(
            name=f"s{k}",
            a="ground" if k == 0 else f"m{k - 1}",
            b=f"m{k}",
            stiffness=400.0,
            damping=0.1,
            rest_length=0.9,
        )
        for k in range(10)
    ]
    return Model(gravity=(0.0, -9.81), bodies=masses, forces=springs)


def run() -> list[Row]:
    """Compare the same chain under both laws."""
    times = {}
    for kind in (SpringDamper, OwnSpring):
        system = pack(chain(kind))
        times[kind] = cpu_time(lambda s=system: simulate(s, 20.0, rtol=1e-9), repeat=7)
    ratio = times[OwnSpring] / times[SpringDamper]
    return [
        Row(what="ten springs, built-in law, 20 s simulated", unit="s",
            value=times[SpringDamper]),
        Row(what="own law / built-in law", value=ratio, unit="", note="to reach: 1.2"),
    ]  # fmt: skip
