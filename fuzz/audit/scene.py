"""Places, velocities and laws of a model at sampled instants, from body columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.audit import tolerances
from fuzz.audit.notes import Array
from nonsmooth import (
    Constant,
    ConstantRate,
    Expression,
    FlexibleBody,
    Harmonic,
    Model,
    Ramp,
    SmoothStep,
    Table,
)
from nonsmooth.elements.materials import find_material

Vector = tuple[Array, Array]


def mass_of(body: Any) -> float:
    """Return the mass of a body; flexible ones of our families are rectangles."""
    if isinstance(body, FlexibleBody):
        mesh: Any = body.mesh
        area = mesh.width * mesh.height
        return find_material(body.material).density * area * body.thickness
    return body.mass


@dataclass(frozen=True)
class Marker:
    """A place fixed on a body."""

    body: str
    x: float
    y: float
    point: str = ""  # its name on a flexible body, on which no place is fixed


class Scene:
    """A model at instants; columns are all it knows of the run."""

    def __init__(self, model: Model, columns: Mapping[str, Array]) -> None:
        self.model, self.columns = model, columns
        self.bodies = {body.name: body for body in model.bodies}
        self.t = columns["t"]
        self.zero = np.zeros_like(self.t)
        self.size = _size(model)

    def __getitem__(self, name: str) -> Array:
        """Return a column."""
        return self.columns[name]

    def has(self, name: str) -> bool:
        """Tell whether there is such a column."""
        return name in self.columns

    def motion(self, body: str, quantity: str) -> Array:
        """Return a quantity of a body's origin; zero for the ground."""
        return self.zero if body == "ground" else self.columns[f"{body}.{quantity}"]

    def marker(self, reference: str) -> Marker:
        """Return the place that "body" or "body.point" means."""
        body, _, point = reference.partition(".")
        if not point:
            return Marker(body, 0.0, 0.0)
        found: Any = self.bodies[body]
        named = point if isinstance(found, FlexibleBody) else ""
        x, y = found.points[point]
        return Marker(body, x, y, named)

    def turned(self, body: str, x: float, y: float) -> Vector:
        """Return a vector of a body's frame in global axes."""
        theta = self.motion(body, "theta")
        c, s = np.cos(theta), np.sin(theta)
        return c * x - s * y, s * x + c * y

    def place(self, marker: Marker) -> Vector:
        """Return where a marker is."""
        if marker.point:
            name = f"{marker.body}.{marker.point}"
            return self[f"{name}.x"], self[f"{name}.y"]
        x, y = self.turned(marker.body, marker.x, marker.y)
        return self.motion(marker.body, "x") + x, self.motion(marker.body, "y") + y

    def velocity(self, body: str, place: Vector) -> Vector:
        """Return the velocity of the matter of a body at a place.

        Of a flexible body that of the point which is there.
        """
        flexible = self.bodies.get(body)
        if isinstance(flexible, FlexibleBody):
            away = {
                name: float(
                    np.nanmax(
                        np.hypot(
                            self[f"{body}.{name}.x"] - place[0],
                            self[f"{body}.{name}.y"] - place[1],
                        )
                    )
                )
                for name in flexible.points
            }
            point = min(away, key=lambda name: away[name])
            return self[f"{body}.{point}.vx"], self[f"{body}.{point}.vy"]
        x, y = (place[i] - self.motion(body, "xy"[i]) for i in range(2))
        omega = self.motion(body, "omega")
        return (
            self.motion(body, "vx") - omega * y,
            self.motion(body, "vy") + omega * x,
        )

    def speed(self, body: str, place: Vector) -> Array:
        """Return the sum of the sizes of the parts of that velocity."""
        if isinstance(self.bodies.get(body), FlexibleBody):
            moves = np.hypot(*self.velocity(body, place))
            return moves + np.hypot(self.motion(body, "vx"), self.motion(body, "vy"))
        x, y = (place[i] - self.motion(body, "xy"[i]) for i in range(2))
        straight = np.hypot(self.motion(body, "vx"), self.motion(body, "vy"))
        return straight + np.abs(self.motion(body, "omega")) * np.hypot(x, y)

    def fastest(self) -> Array:
        """Return the largest speed of any body, with its rotation, at each instant."""
        speeds = [
            np.hypot(self[f"{name}.vx"], self[f"{name}.vy"])
            + np.abs(self[f"{name}.omega"]) * self.size
            for name in self.bodies
            if name != "ground"
        ]
        return np.maximum.reduce(speeds)

    def quiet(self) -> float:
        """Return the speed below which all is at rest, m/s."""
        return tolerances.REST * (float(np.max(self.fastest())) + self.size)

    def weight(self) -> float:
        """Return the weight of all bodies, N; without gravity the largest load."""
        mass = sum(mass_of(body) for body in self.model.bodies if body.has_mass)
        if g := float(np.hypot(*self.model.gravity)):
            return mass * g
        loads = [
            np.max(np.abs(self[name]), initial=0.0)
            for name in self.columns
            if name.endswith(".normal_force")
        ]
        return max(mass * self.size, *loads, 0.0)

    def fleeting(self) -> Array:
        """Return traces of loads that come and go by the round-off of places, N."""
        most, least = (
            tolerances.WETTED * self.weight(),
            tolerances.FLUSH * self.extent(),
        )
        total = self.zero
        for contact in self.model.contacts:
            gap, load = (f"{contact.name}.{name}" for name in ("gap", "normal_force"))
            if self.has(gap) and self.has(load):
                is_flush = np.abs(self[gap]) <= least
                total = total + np.where(is_flush, np.minimum(self[load], most), 0.0)
        return total

    def extent(self) -> Array:
        """Return the size of the coordinates at each instant, m."""
        places = [
            np.hypot(self[f"{name}.x"], self[f"{name}.y"])
            for name in self.bodies
            if name != "ground"
        ]
        return np.maximum.reduce(places) + self.size


def _size(model: Model) -> float:
    """Return the farthest of all points and corners from its body, m."""
    reach = [0.0]
    for body in model.bodies:
        if body.name == "ground":
            continue
        for point in getattr(body, "points", {}).values():
            reach.append(float(np.hypot(*point)))
        for shape in getattr(body, "shapes", {}).values():
            for corner in outline(shape):
                reach.append(float(np.hypot(*corner)))
            reach.append(float(getattr(shape, "radius", 0.0)))
    if max(reach) > 0.0:
        return max(reach)
    places = np.array(
        [getattr(b, "position", None) for b in model.bodies if b.has_mass]
    )
    spread = float(np.max(np.ptp(places, axis=0)))
    return spread if spread > 0.0 else 1.0


def outline(shape: Any) -> tuple[tuple[float, float], ...]:
    """Return the corners of a polygon or segment, none of other shapes."""
    if hasattr(shape, "vertices"):
        return tuple(shape.vertices)
    return (shape.start, shape.end) if hasattr(shape, "end") else ()


# -- time laws -------------------------------------------------------------------------

_WORDS: dict[str, Any] = {
    name: getattr(np, name)
    for name in ("sin", "cos", "tan", "exp", "sqrt", "tanh", "abs", "pi")
}


def _smoothstep(x: Array) -> Array:
    u = np.clip(x, 0.0, 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)


_WORDS["smoothstep"] = _smoothstep


def evaluate_text(text: str, values: Mapping[str, Array], like: Array) -> Array:
    """Return an expression's value; only texts of our own models come here."""
    code = compile(text.replace("^", "**"), "expression", "eval")
    return np.asarray(eval(code, {"__builtins__": {}}, _WORDS | dict(values))) + (
        0.0 * like
    )


def law_value(law: Any, t: Array) -> tuple[Array, Array]:
    """Return value and rate of a time law or a number; NaN for a rate not known."""
    if isinstance(law, int | float):
        return np.full_like(t, law), np.zeros_like(t)
    if isinstance(law, Constant):
        return np.full_like(t, law.value), np.zeros_like(t)
    if isinstance(law, ConstantRate):
        return law.start + law.rate * t, np.full_like(t, law.rate)
    if isinstance(law, Harmonic):
        angle = law.omega * t + law.phase
        return (
            law.offset + law.amplitude * np.sin(angle),
            law.amplitude * law.omega * np.cos(angle),
        )
    if isinstance(law, Ramp):
        u = np.clip(t - law.begin, 0.0, law.duration)
        late = np.maximum(t - law.begin - law.duration, 0.0)
        value = law.start + law.rate * (0.5 * u * u / law.duration + late)
        return value, law.rate * u / law.duration
    if isinstance(law, SmoothStep):
        u = np.clip((t - law.begin) / law.duration, 0.0, 1.0)
        change = law.end - law.start
        value = law.start + change * (10.0 * u**3 - 15.0 * u**4 + 6.0 * u**5)
        return value, 30.0 * change * (u * (1.0 - u)) ** 2 / law.duration
    if isinstance(law, Table):
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(law.times, law.values, bc_type="natural")
        return spline(t), spline(t, 1)
    assert isinstance(law, Expression)
    return evaluate_text(law.text, {"t": t}, t), np.full_like(t, np.nan)
