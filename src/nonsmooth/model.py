"""The model: named elements, collected and checked as a whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from nonsmooth.elements.base import Element, Named, quantity
from nonsmooth.elements.bodies import Body, Ground, Point, PointMass
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.events import Event
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.forces import Force
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Joint, Prismatic
from nonsmooth.elements.normal import Unilateral
from nonsmooth.elements.wishes import Run
from nonsmooth.errors import ModelError, brief, nearest

T = TypeVar("T")
if TYPE_CHECKING:
    from matplotlib.figure import Figure

    # Any sequence may be given; what is stored is a tuple.
    Many = Sequence[T]
else:
    Many = tuple[T, ...]

# What a column `body.X` or `element.X` may be called; no point or shape is to hide one.
_MOTION = ("x", "y", "theta", "vx", "vy", "omega", "ax", "ay", "alpha")
_FORCE = ("force", "force_x", "force_y", "torque")
RESERVED = frozenset((*_MOTION, *_FORCE))


@dataclass(frozen=True, kw_only=True, repr=False)
class Model(Element, family="model"):
    """A planar mechanism and its start.

    Parameters
    ----------
    title : str
        What it is, for reports.
    gravity : (float, float)
        Acceleration of free fall, m/s^2.
    bodies, joints, drives, forces, contacts, events : sequence
        The elements; names are unique over all of them, but a contact may have the
        name of a body.
    assemble : bool
        Move the start to the nearest consistent positions, and change the
        velocities by the impulse that joints and drives exert. Otherwise an
        inconsistent start is refused.
    keep : sequence of str
        Coordinates that `assemble` must not move, e.g. "crank.theta".
    run : Run, optional
        How long to run it unless told otherwise, and what to keep.
    """

    title: str = ""
    gravity: Point = quantity("m/s^2", default=(0.0, 0.0))
    bodies: Many[Body]
    joints: Many[Joint] = ()
    drives: Many[Drive] = ()
    forces: Many[Force] = ()
    contacts: Many[Contact] = ()
    events: Many[Event] = ()
    assemble: bool = False
    keep: Many[str] = ()
    run: Run | None = None

    def __repr__(self) -> str:
        """Return what it is made of, in a line."""
        counts = [(len(getattr(self, name)), name) for name in _FAMILIES]
        one = {name: name.removesuffix("s") for name in _FAMILIES} | {"bodies": "body"}
        parts = [f"{n} {name if n > 1 else one[name]}" for n, name in counts if n]
        return f"<{self.label()}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """Return the same with a picture of the start, as a notebook shows it."""
        from nonsmooth.solve.preview import shown

        return shown(self)

    def label(self) -> str:
        """Return how messages call the model."""
        return f"model {brief(self.title)}" if self.title else "model"

    def _checked(
        self, item: dataclasses.Field[Any], annotation: Any, value: Any
    ) -> Any:
        family = _FAMILIES.get(item.name)
        if family is None:
            return super()._checked(item, annotation, value)
        if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
            raise self.fail(item.name, value, "give a list")
        elements: tuple[Any, ...] = tuple(cast(Iterable[Any], value))
        for k, element in enumerate(elements):
            if not isinstance(element, family) or (
                family is Joint and isinstance(element, Drive)
            ):
                kinds = ", ".join(sorted(family.kinds))
                raise self.fail(f"{item.name}[{k}]", element, f"give one of: {kinds}")
        return elements

    def check(self) -> None:
        """Refuse names, references and combinations that have no meaning."""
        if not any(body.has_mass for body in self.bodies):
            raise self.fail(
                "bodies", [b.name for b in self.bodies], "give at least one with mass"
            )
        self._check_names()
        bodies = {body.name: body for body in self.bodies}
        bodies.setdefault("ground", Ground())
        sliders = self.flexible_sliders
        for element in self.elements():
            if isinstance(element, Joint | Force | Event | Contact):
                self._check_markers(element, bodies, sliders)
        self._check_drives()
        self._check_keep(bodies)

    def elements(self) -> Iterator[Named]:
        """Yield every element, bodies first."""
        for name in _FAMILIES:
            yield from getattr(self, name)

    @property
    def flexible_sliders(self) -> dict[str, Prismatic]:
        """Joints in whose guide a flexible body slides with clearance, by the body."""
        flexible = {b.name for b in self.bodies if isinstance(b, FlexibleBody)}
        return {
            body: joint
            for joint in self.joints
            if isinstance(joint, Prismatic) and joint.asks_for_mesh
            for body in (joint.b.partition(".")[0],)
            if body in flexible
        }

    def draw(
        self, path: str | None = None, *, names: bool = True, forces: bool = False
    ) -> Figure:
        """Draw the mechanism as it starts, with what is to be said of it."""
        from nonsmooth.solve.preview import draw

        return draw(self, path, names=names, forces=forces)

    def _check_names(self) -> None:
        owners: dict[str, list[Named]] = {}
        for element in self.elements():
            if element.name == "ground" and not isinstance(element, Ground):
                raise element.fail("name", "ground", "this name is the fixed frame's")
            others = owners.setdefault(element.name, [])
            for other in others:
                # No column of a contact is called as one of a body or its points.
                if not (isinstance(other, Body) and isinstance(element, Contact)):
                    raise element.fail(
                        "name", element.name, f"already used by a {other.family}"
                    )
            others.append(element)
            for field in ("points", "shapes", "patches", "gauges"):
                for name in getattr(element, field, {}):
                    if name in RESERVED:
                        raise element.fail(
                            field, name, "this name is a column's; choose another"
                        )

    def _check_markers(
        self,
        element: Joint | Force | Event | Contact,
        bodies: dict[str, Body],
        sliders: dict[str, Prismatic],
    ) -> None:
        sides: list[Body] = []
        for side in ("a", "b"):
            reference: str = getattr(element, side)
            name, _, point = reference.partition(".")
            body = bodies.get(name)
            if body is None:
                raise element.fail(
                    side, reference, f"no body {brief(name)}; " + nearest(name, bodies)
                )
            is_shape = isinstance(element, Contact) and body.pieces(point, side)
            if not is_shape and body.marker(point) is None:
                raise element.fail(side, reference, _unknown(element, body, point))
            sides.append(body)
        if isinstance(element, Event):
            return
        if sides[0] is sides[1]:
            raise element.fail(
                "b", element.b, f"a and b are both on body '{sides[0].name}'"
            )
        if not any(body.has_mass for body in sides):
            raise element.fail("b", element.b, "neither a nor b is on a body with mass")
        if isinstance(element, Prismatic):
            _check_slider(element, sides[1])
        for side, body in zip("ab", sides, strict=True):
            if isinstance(body, FlexibleBody) and not (
                body.name in sliders and not isinstance(element, Contact)
            ):
                _check_flexible(element, side, body)
        if isinstance(element, Contact):
            self._check_contact(element, *sides)
            return
        held = element.holds_angle if isinstance(element, Joint) else element.turns
        for side, body, is_held in zip("ab", sides, held, strict=True):
            if is_held and isinstance(body, PointMass):
                raise element.fail(
                    side,
                    getattr(element, side),
                    "a point mass has no angle; use a RigidBody",
                )

    def _check_contact(self, contact: Contact, body_a: Body, body_b: Body) -> None:
        """Refuse pairs that are not discs against a surface, nor made of such."""
        if isinstance(contact.normal, Unilateral):
            _check_pressed(contact, body_a, body_b)
            return
        surfaces = body_a.pieces(contact.a.partition(".")[2], "a")
        outlines = body_b.pieces(contact.b.partition(".")[2], "b")
        if not surfaces and outlines:
            raise contact.fail(
                "a", contact.a, "a point has no surface to touch; exchange a and b"
            )
        if not surfaces:
            shapes = getattr(body_a, "shapes", {})
            which = nearest("", shapes) if shapes else "its body has none"
            raise contact.fail(
                "a",
                contact.a,
                f"a point has no surface to touch; give a shape ({which})",
            )
        outline = next(iter(outlines.values()), None)
        if outline is not None and not outline.corners():
            kind = type(outline).__name__.lower()
            has_corners = any(shape.corners() for shape in surfaces.values())
            remedy = "exchange a and b" if has_corners else "give a point"
            raise contact.fail(
                "b", contact.b, f"a {kind} has no corners to touch with; {remedy}"
            )

    def _check_drives(self) -> None:
        seen: dict[tuple[object, ...], Drive] = {}
        for drive in self.drives:
            ends = (drive.a, drive.b)
            if drive.output == "torque":
                # A rotation is the same wherever on the body it is prescribed.
                ends = tuple(end.partition(".")[0] for end in ends)
            key = (type(drive), frozenset(ends), getattr(drive, "axis", None))
            other = seen.get(key)
            if other is not None:
                raise drive.fail(
                    "b", drive.b, f"drive '{other.name}' already prescribes this motion"
                )
            seen[key] = drive

    def _check_keep(self, bodies: dict[str, Body]) -> None:
        for name in self.keep:
            body, _, coordinate = name.partition(".")
            if body not in bodies:
                raise self.fail(
                    "keep", name, f"no body {brief(body)}; " + nearest(body, bodies)
                )
            if coordinate not in ("x", "y", "theta"):
                raise self.fail("keep", name, "give body.x, body.y or body.theta")

    def element(self, name: str, field: str = "") -> Named:
        """Return the element of that name; of a body and a contact, that with a field.

        The body, if both or neither has it.
        """
        found = [element for element in self.elements() if element.name == name]
        having = [element for element in found if hasattr(element, field)]
        if found:
            return (having or found)[0]
        names = [element.name for element in self.elements()]
        raise ModelError(f"{self.label()}: no element '{name}'; {nearest(name, names)}")


def _check_pressed(contact: Contact, body_a: Body, body_b: Body) -> None:
    """Refuse what cannot meet the nodes of a patch."""
    if not isinstance(body_b, FlexibleBody):
        valid = "give a law with stiffness, e.g. HuntCrossley, to rigid bodies"
        if isinstance(body_a, FlexibleBody):
            valid = "Unilateral() needs the patch in b; exchange a and b"
        raise contact.fail("normal", contact.normal, valid)
    if contact.friction is not None and not isinstance(contact.friction, Coulomb):
        raise contact.fail(
            "friction", contact.friction, "nodes of a patch have Coulomb(...), or none"
        )
    surfaces = body_a.pieces(contact.a.partition(".")[2], "a")
    if not surfaces and not isinstance(body_a, FlexibleBody):
        raise contact.fail(
            "a", contact.a, "a point has no surface to touch; give a shape"
        )
    if len(surfaces) > 1:
        names = ", ".join(f"'{body_a.name}.{name}'" for name in surfaces)
        raise contact.fail("a", contact.a, f"a patch presses on one shape: {names}")


def _check_slider(joint: Prismatic, body: Body) -> None:
    """Refuse a block that lacks what its body cannot give."""
    if not isinstance(body, FlexibleBody):
        joint.check_rigid()
    elif joint.friction is not None and joint.clearance is None:
        raise joint.fail(
            "clearance",
            None,
            f"the forces on the faces of flexible body '{body.name}' depend on it; "
            "give >= 0 m, 0 for one that fits, or a RigidBody for the rigid limit",
        )


def _check_flexible(
    element: Joint | Force | Contact, side: str, body: FlexibleBody
) -> None:
    """Refuse what a flexible body cannot bear at a marker."""
    reference: str = getattr(element, side)
    point = reference.partition(".")[2]
    if not point and not isinstance(element, Force):
        raise element.fail(
            side,
            reference,
            "the mass centre of a flexible body is no place on it; give a point or a "
            f"patch ({nearest('', [*body.points, *body.patches])})",
        )
    if isinstance(element, Contact):
        is_pressed = isinstance(element.normal, Unilateral)
        if point in body.patches and not is_pressed:
            raise element.fail(
                side,
                reference,
                "a normal law presses on a point, not on a patch; give Unilateral()",
            )
        if is_pressed and point not in body.patches:
            raise element.fail(
                side,
                reference,
                "Unilateral() presses on the nodes of a patch; give one "
                f"({nearest('', body.patches) if body.patches else 'it has none'})",
            )
        return
    if getattr(element, "clearance", None) is not None:
        raise element.fail(
            side, reference, "a guide with clearance needs rigid bodies; omit clearance"
        )
    is_seen = element.sees_angle["ab".index(side)]
    if is_seen and point and point not in body.patches:
        raise element.fail(
            side,
            reference,
            "a point of a flexible body has no rotation, which this takes hold of; "
            f"give a patch of nodes ({nearest('', body.patches)})",
        )


def _unknown(element: Named, body: Body, point: str) -> str:
    """Return what to say of a point, or shape, that a body does not have."""
    what = "point"
    names = [*getattr(body, "points", {}), *getattr(body, "patches", {})]
    if isinstance(element, Contact):
        what, names = "point or shape", [*names, *getattr(body, "shapes", {})]
    remedy = nearest(point, names)
    if isinstance(body, PointMass):
        remedy = f"there are none on a point mass; give '{body.name}'"
    return f"no such {what}; {remedy}"


_FAMILIES: dict[str, type[Named]] = {
    "bodies": Body,
    "joints": Joint,
    "drives": Drive,
    "forces": Force,
    "contacts": Contact,
    "events": Event,
}
