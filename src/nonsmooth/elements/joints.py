"""Joints: constraints between two markers.

A kind supplies the static function `rows(p, s, a, b, out)`. For each of its
`n_row` rows it writes nine numbers in terms of the poses (x, y, theta) of markers
a and b:

    out[9 r]         g            violation
    out[9 r + 1]     dg/dt        explicit time rate (of drives)
    out[9 r + 2]     bias         g'' = G_a a_a + G_b a_b + bias
    out[9 r + 3: 6]  G_a = dg/d(pose of a)
    out[9 r + 6: 9]  G_b = dg/d(pose of b)

`a[0:3]`, `b[0:3]` are the poses, `a[3:6]`, `b[3:6]` their rates. The reaction on b
is G_b^T lam, a force at the marker and a couple, in global axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from nonsmooth.elements.base import Element, Named, quantity
from nonsmooth.elements.friction import FrictionLaw, check_law
from nonsmooth.elements.materials import Material, find_material
from nonsmooth.elements.meshes import MeshShape
from nonsmooth.elements.normal import NormalLaw, Unilateral
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError


@dataclass(frozen=True, kw_only=True)
class Joint(Named, family="joint"):
    """Base of all joints; `a` and `b` are "body" or "body.point"."""

    row_name: ClassVar[str] = "rows"
    n_row: ClassVar[int] = 0
    # Whether the joint takes hold of the rotation of a, of b.
    holds_angle: ClassVar[tuple[bool, bool]] = (False, False)

    a: str = "ground"
    b: str

    @property
    def sees_angle(self) -> tuple[bool, bool]:
        """Whether it depends on the rotation of a, of b; a rubbing pin does."""
        is_rubbing = getattr(self, "friction", None) is not None and self.n_row > 1
        return (True, True) if is_rubbing else self.holds_angle


@dataclass(frozen=True, kw_only=True)
class Revolute(Joint):
    """Two points stay together: a pin in a hole, with friction if a law is given.

    g = p_b - p_a

    The pin rubs on the hole with the slip velocity v_t = radius (omega_b - omega_a)
    under the load |F| of the joint's force F = (lam_x, lam_y), the exact cone, so that
    a slipping pin resists with the torque mu radius |F|.
    """

    n_row: ClassVar[int] = 2

    friction: FrictionLaw | None = None
    radius: float | None = quantity("m, of the pin", default=None, above=0.0)

    def check(self) -> None:
        super().check()
        check_law(self, self.friction, in_joint=True)
        if self.friction is not None and self.radius is None:
            raise self.fail(
                "radius", None, "friction on a pin acts at its radius; must be > 0 m"
            )

    @staticmethod
    def rows(p, s, a, b, out):
        for r in range(2):
            o = 9 * r
            for i in range(9):
                out[o + i] = 0.0
            out[o] = b[r] - a[r]
            out[o + 3 + r] = -1.0
            out[o + 6 + r] = 1.0


@dataclass(frozen=True, kw_only=True)
class PinInSlot(Joint):
    """Point b stays on a line through point a, turning with a's body.

    g = n·(p_b - p_a),  n = (-sin φ, cos φ),  φ = theta_a + axis

    With a friction law it is the sliding joint of [WangWangZhuang2014]_: b rubs along
    (cos φ, sin φ) under the load |lam|, on one flank of the slot where lam > 0 pushes
    b along n, on the other where lam < 0.
    """

    n_row: ClassVar[int] = 1
    holds_angle: ClassVar[tuple[bool, bool]] = (True, False)

    axis: float = quantity("rad, direction of the slot in a's frame", default=0.0)
    friction: FrictionLaw | None = None

    def check(self) -> None:
        super().check()
        check_law(self, self.friction, in_joint=True)

    @staticmethod
    def rows(p, s, a, b, out):
        phi = a[2] + p[0]
        ux, uy = math.cos(phi), math.sin(phi)
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        omega = a[5]
        along = ux * dx + uy * dy
        across = -uy * dx + ux * dy
        out[0] = across
        out[1] = 0.0
        out[2] = -2.0 * omega * (ux * wx + uy * wy) - omega * omega * across
        out[3] = uy
        out[4] = -ux
        out[5] = -along
        out[6] = -uy
        out[7] = ux
        out[8] = 0.0


@dataclass(frozen=True, kw_only=True)
class ElasticBlock(Element, family="block", is_kind=True):
    """The finite elements of a block in a guide: a rectangle, held at its pin.

    Each cell is two triangles. Forces act between its middle and its faces; its motion
    stays that of a rigid body. With a `mesh` it is that mesh instead, pressed on two
    straight boundaries: what a guide makes of a `FlexibleBody` that slides in it.
    """

    material: Material | str  # or its name
    thickness: float = quantity("m", default=1.0, above=0.0)
    plane: Literal["stress", "strain"] = "stress"
    cells: tuple[int, int] = quantity("along the guide, across it", default=(18, 19))
    # Of springs between block and guide, per length of face; None: they do not overlap.
    penalty: float | None = quantity("N/m^2", default=None, above=0.0)
    mesh: MeshShape | None = None  # instead of cells
    faces: tuple[str, str] = ("bottom", "top")  # boundaries of the mesh
    middle: Point = quantity("m, what is at b, in the mesh's axes", default=(0.0, 0.0))
    turn: float = quantity("rad, of the guide in the mesh's axes", default=0.0)

    def check(self) -> None:
        try:
            find_material(self.material)
        except ModelError as error:
            raise self.fail("material", self.material, str(error)) from None
        if not all(2 <= count <= 400 for count in self.cells):
            valid = "give 2 to 400 along the guide, and 2 to 400 across it"
            raise self.fail("cells", self.cells, valid)


@dataclass(frozen=True, kw_only=True)
class Prismatic(Joint):
    """A block with its middle at b slides in a guide fixed in a, without turning in it.

    g_1 = n·(p_b - p_a),  g_2 = theta_b - theta_a - angle

    With a friction law the block has a length along the guide and a height across it.
    Its two ends press on either flank of the guide with the forces

        u_f, u_r = lam_1/2 ± (lam_2 + s mu (height/2) lam_1)/length

    on the front end, along +axis, and the rear end; s is the sign of the slip. u > 0 is
    the flank that pushes b along n. Friction acts on the flanks under the load
    |u_f| + |u_r|: flat on one flank, or on two diagonal corners. It is the limit of a
    small clearance; with none at all the load of a rigid block would be indeterminate.

    With a `clearance`, the width of the guide less the height of the block, there is no
    constraint: the four corners touch the flanks by the law `normal`, as contacts
    "name.front_lower", "name.rear_lower", "name.front_upper" and "name.rear_upper".

    With an elastic `block` and a clearance, which may be zero, it is the constraint
    again, and friction acts under the sum of the forces on all nodes of both faces:
    the pattern of contact is found, of one face, two corners, or both faces. See
    `nonsmooth.fem.guide`. Where b is on a `FlexibleBody` this is the default, with the
    body's own mesh between two of its boundaries, `faces`; a clearance must be given,
    length and height are the mesh's. `normal=Unilateral(penalty=...)` has springs
    between faces and guide. The body then moves as a rigid one. With `load` =
    "corners" it bears on its corners as a rigid block does: the limit of a small
    clearance, whatever the clearance is.
    """

    n_row: ClassVar[int] = 2
    holds_angle: ClassVar[tuple[bool, bool]] = (True, True)

    axis: float = quantity("rad, direction of the guide in a's frame", default=0.0)
    angle: float = quantity("rad, of b relative to a", default=0.0)
    friction: FrictionLaw | None = None
    length: float | None = quantity("m, of the block along the guide", default=None)
    height: float = quantity("m, of the block", default=0.0, minimum=0.0)
    clearance: float | None = quantity(
        "m, by which the guide is wider than the block", default=None, minimum=0.0
    )
    normal: NormalLaw | None = None  # of the corners, with a clearance
    block: ElasticBlock | None = None  # None: rigid
    faces: tuple[str, str] = ("bottom", "top")  # boundaries of a flexible body in b
    # Who bears the load of a block with clearance; None: nodes where it is elastic.
    load: Literal["condensed", "corners"] | None = None

    @property
    def is_loose(self) -> bool:
        """Whether its corners are contacts, and it is no constraint."""
        return self.clearance is not None and not self.asks_for_mesh and not self.block

    @property
    def asks_for_mesh(self) -> bool:
        """Whether clearance and nothing else is given: its mesh is to be b's own."""
        law = self.normal
        is_bare = law is None or isinstance(law, Unilateral)
        return self.clearance is not None and self.block is None and is_bare

    def check(self) -> None:
        super().check()
        check_law(self, self.friction, in_joint=not self.is_loose)
        # The length of a flexible body, which has a clearance, is its mesh's.
        is_needed = self.friction is not None and self.clearance is None
        if not (self.length is None and not is_needed) and not (self.length or 0) > 0:
            raise self._no_length()
        if self.block is not None:
            self._check_block()
        for name in ("normal", "load"):
            if getattr(self, name) is not None and self.clearance is None:
                raise self.fail(
                    name, getattr(self, name), "it has a meaning only with a clearance"
                )
        if self.load is not None and self.is_loose:
            valid = "corners with a law of contact bear by it; omit load, or normal"
            raise self.fail("load", self.load, valid)

    def _no_length(self) -> ModelError:
        return self.fail(
            "length",
            self.length,
            "a slider of no length cannot bear a moment; must be > 0 m, or use "
            "PinInSlot for a point that turns freely; a FlexibleBody in b has one, and "
            "needs a clearance instead",
        )

    def check_rigid(self) -> None:
        """Refuse what a rigid body in b lacks: length, a law of its corners."""
        if self.length is None and self.clearance is not None:
            raise self._no_length()
        if not self.asks_for_mesh or self.load == "corners":
            return
        if isinstance(self.normal, Unilateral):
            raise self.fail(
                "normal",
                self.normal,
                "corners have no nodes to press; give e.g. KelvinVoigt(stiffness=...)",
            )
        raise self.fail(
            "normal",
            None,
            "corners in a guide with clearance need a law of contact; give e.g. "
            "KelvinVoigt(stiffness=...), a block=ElasticBlock(...), or a FlexibleBody "
            "in b",
        )

    def _check_block(self) -> None:
        """Refuse an elastic block that lacks something, or has too much."""
        if self.clearance is None:
            raise self.fail(
                "clearance",
                None,
                "the forces on an elastic block depend on it; give >= 0 m, 0 for a "
                "block that fits, or leave out block for a rigid one",
            )
        if self.load == "corners":
            valid = "corners are those of a rigid block; omit block, or load"
            raise self.fail("load", self.load, valid)
        if self.friction is None:
            raise self.fail(
                "block", self.block, "without friction it changes nothing; omit it"
            )
        if not self.height > 0.0:
            valid = "an elastic block has one; must be > 0 m"
            raise self.fail("height", self.height, valid)
        if self.normal is not None:
            raise self.fail(
                "normal", self.normal, "the faces of an elastic block have no law; omit"
            )

    @staticmethod
    def rows(p, s, a, b, out):
        phi = a[2] + p[0]
        ux, uy = math.cos(phi), math.sin(phi)
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        omega = a[5]
        across = -uy * dx + ux * dy
        out[0] = across
        out[1] = 0.0
        out[2] = -2.0 * omega * (ux * wx + uy * wy) - omega * omega * across
        out[3] = uy
        out[4] = -ux
        out[5] = -(ux * dx + uy * dy)
        out[6] = -uy
        out[7] = ux
        out[8] = 0.0
        for i in range(9, 18):
            out[i] = 0.0
        out[9] = b[2] - a[2] - p[1]
        out[14] = -1.0
        out[17] = 1.0


@dataclass(frozen=True, kw_only=True)
class Weld(Joint):
    """Two markers stay together and keep their relative angle.

    g = (p_b - p_a, theta_b - theta_a - angle)
    """

    n_row: ClassVar[int] = 3
    holds_angle: ClassVar[tuple[bool, bool]] = (True, True)

    angle: float = quantity("rad, of b relative to a", default=0.0)

    @staticmethod
    def rows(p, s, a, b, out):
        for r in range(3):
            o = 9 * r
            for i in range(9):
                out[o + i] = 0.0
            out[o] = b[r] - a[r]
            out[o + 3 + r] = -1.0
            out[o + 6 + r] = 1.0
        out[18] -= p[0]


@dataclass(frozen=True, kw_only=True)
class Distance(Joint):
    """Two points keep their distance: a massless rod with pins.

    g = |p_b - p_a| - length
    """

    n_row: ClassVar[int] = 1

    length: float = quantity("m", above=0.0)

    @staticmethod
    def rows(p, s, a, b, out):
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        distance = math.hypot(dx, dy)
        ux, uy = dx / distance, dy / distance
        across = ux * wy - uy * wx
        out[0] = distance - p[0]
        out[1] = 0.0
        out[2] = across * across / distance
        out[3] = -ux
        out[4] = -uy
        out[5] = 0.0
        out[6] = ux
        out[7] = uy
        out[8] = 0.0
