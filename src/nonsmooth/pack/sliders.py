"""Flexible bodies that slide in a guide with clearance: rigid, with elastic faces.

Their elasticity acts where it sets the load of the guide, quasi-statically; their
motion is that of a rigid body of the mesh's mass. So such a body is packed as one, and
its mesh as the elastic block of the joint.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.joints import ElasticBlock, Prismatic
from nonsmooth.elements.normal import Unilateral
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError
from nonsmooth.model import Model

# Of a length, by which one that is given may differ from the mesh's.
ALIKE = 1e-6


def with_blocks(model: Model) -> Model:
    """Return a model whose flexible sliders are rigid bodies with elastic blocks."""
    sliders = model.flexible_sliders
    if not sliders:
        return model
    for contact in model.contacts:
        for end in (contact.a, contact.b):
            if (body := end.partition(".")[0]) in sliders:
                raise contact.fail(
                    "b",
                    contact.b,
                    f"body '{body}' moves as a rigid one in guide "
                    f"'{sliders[body].name}', and has no nodes to touch elsewhere",
                )
    changed: dict[str, Any] = {}
    for body in model.bodies:
        if body.name in sliders:
            assert isinstance(body, FlexibleBody)  # only these are
            joint = sliders[body.name]
            changed[body.name], changed[joint.name] = _taken_apart(body, joint)
    return replace(
        model,
        bodies=[changed.get(body.name, body) for body in model.bodies],
        joints=[changed.get(joint.name, joint) for joint in model.joints],
    )


def _taken_apart(body: FlexibleBody, joint: Prismatic) -> tuple[RigidBody, Prismatic]:
    """Return the rigid body, and the joint with the elastic block."""
    _refuse(body, joint)
    from nonsmooth.fem.guide import lay_mesh

    rigid, centre = _rigid(body)
    _, _, point = joint.b.partition(".")
    x, y = rigid.points[point] if point else (0.0, 0.0)
    turn, middle = joint.axis - joint.angle, (centre[0] + x, centre[1] + y)
    try:
        length, height = lay_mesh(body.mesh, joint.faces, middle, turn).size
    except ModelError as error:
        raise joint.fail("faces", joint.faces, str(error)) from None
    for name, given, own in (
        ("length", joint.length, length),
        ("height", joint.height or None, height),
    ):
        if given is not None and abs(given - own) > ALIKE * own:
            valid = f"that of body '{body.name}' is {own:.6g} m; leave it out"
            raise joint.fail(name, given, valid)
    found = replace(joint, length=length, height=height, normal=None)
    if joint.load == "corners":
        return rigid, found
    law = joint.normal
    assert body.plane != "axisymmetric"  # it was refused
    block = ElasticBlock(
        material=body.material,
        thickness=body.thickness,
        plane=body.plane,
        penalty=law.penalty if isinstance(law, Unilateral) else None,
        mesh=body.mesh,
        faces=joint.faces,
        middle=middle,
        turn=turn,
    )
    return rigid, replace(found, block=block)


def _refuse(body: FlexibleBody, joint: Prismatic) -> None:
    """Refuse what a body that moves as a rigid one cannot have."""
    why = f"in guide '{joint.name}' it moves as a rigid body; leave it out"
    if body.modes == "full":
        raise body.fail("modes", body.modes, f"{why}, or give a number")
    for name in ("fixed", "eta", "eta_rate", "gauges"):
        if given := getattr(body, name):
            raise body.fail(name, given, why)
    if joint.friction is None:
        valid = "an elastic slider differs from a rigid one by friction; give a law"
        raise joint.fail("friction", None, valid)


def _rigid(body: FlexibleBody) -> tuple[RigidBody, Point]:
    """Return a body of the mesh's mass, and where its centre is in the mesh."""
    from nonsmooth.fem.assembly import discretise
    from nonsmooth.fem.meshing import build
    from nonsmooth.fem.patches import choose, point_rows

    try:
        mesh = build(body.mesh, base=getattr(body.mesh, "folder", "."))
        assert body.plane != "axisymmetric"  # the body was checked
        plane = body.plane
        own = discretise(
            mesh, material=body.material, thickness=body.thickness, plane=plane
        )
        for name, place in body.points.items():
            point_rows(mesh, name, place)  # refuses a place outside
        chosen = {
            name: choose(mesh, name, patch) for name, patch in body.patches.items()
        }
    except (ModelError, ImportError, OSError) as error:
        raise ModelError(f"{body.label()}: {error}") from error
    part = np.asarray(own.scalar_mass @ np.ones(own.n), float)
    mass = float(part.sum())
    centre = part @ mesh.nodes / mass
    away = mesh.nodes - centre
    inertia = float(np.sum(away * np.asarray(own.scalar_mass @ away)))
    places = {name: np.array(place) for name, place in body.points.items()}
    for name, one in chosen.items():
        places[name] = one.weights @ mesh.nodes[one.nodes] / one.weights.sum()
    c, s = np.cos(body.angle), np.sin(body.angle)
    start = body.position or tuple((np.array([[c, -s], [s, c]]) @ centre).tolist())
    rigid = RigidBody(
        name=body.name,
        mass=mass,
        inertia=inertia,
        position=start,
        angle=body.angle,
        velocity=body.velocity,
        angular_velocity=body.angular_velocity,
        points={k: _pair(place - centre) for k, place in places.items()},
    )
    return rigid, _pair(centre)


def _pair(place: Any) -> Point:
    return float(place[0]), float(place[1])
