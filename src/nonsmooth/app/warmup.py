"""`nonsmooth warmup`: compile everything in advance, so that no run has to wait.

Numba compiles a kernel when it is first called. The stages below call every one
of them on tiny systems; a test checks that none is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator

from nonsmooth.app.bar import Bar
from nonsmooth.app.command import DONE
from nonsmooth.elements.base import Element
from nonsmooth.elements.bodies import MovingSupport, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.events import Event
from nonsmooth.elements.forces import ExpressionForce, Force
from nonsmooth.elements.friction import Coulomb, FrictionLaw
from nonsmooth.elements.joints import Joint, Prismatic, Revolute
from nonsmooth.elements.laws import ConstantRate, TimeLaw
from nonsmooth.elements.normal import KelvinVoigt, NormalLaw
from nonsmooth.elements.shapes import Shape
from nonsmooth.errors import NonsmoothWarning, SolveError
from nonsmooth.model import Model

SHORT = "compile everything in advance"
HELP = """\
Compile the solver and the laws of all built-in elements. This takes a minute or
two, once per installation; later runs load the compiled code in a second. The
cache is in NONSMOOTH_CACHE_DIR, or else in the user's cache folder.
"""

# Families whose kinds have a row function, and the family of its signature.
ROW_FUNCTIONS: dict[str, tuple[type[Element], ...]] = {
    "law": (TimeLaw,),
    "joint": (Joint, Drive),
    "force": (Force,),
    "guard": (Event,),
    "shape": (Shape,),
    "normal": (NormalLaw,),
}
# Functions of a friction law, of which a kind has some, by the family of the signature.
FRICTION_FUNCTIONS = {"limit": "limit", "smooth": "force", "rate": "rate"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: this command has no arguments."""


def command(args: argparse.Namespace) -> int:
    """Compile, and print how long each stage took."""
    # Its advice is what is being followed.
    logging.getLogger("nonsmooth").setLevel(logging.ERROR)
    begin = time.perf_counter()
    for text, compile_stage in stages():
        since = time.perf_counter()
        # A bar would wipe out a line begun above it.
        head = f"{text:<32}"
        if not sys.stderr.isatty():
            print(head, end="", flush=True)
            head = ""
        with Bar(text, patience=0.0):
            compile_stage()
        print(f"{head}{time.perf_counter() - since:6.1f} s", flush=True)
    print(f"{'ready in':<32}{time.perf_counter() - begin:6.1f} s")
    return DONE


def stages() -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield what is to be compiled, and the function that does it."""
    from nonsmooth.pack import compile_kernels

    kinds = _kinds()
    n_kind = len({kind for _, kind, _ in kinds})
    yield "kernels of the solver", lambda: compile_kernels(has_patches=True)
    yield f"laws of {n_kind} built-in kinds", lambda: _compile_rows(kinds)
    yield "first runs", _first_runs


def _kinds() -> list[tuple[str, type[Element], str]]:
    """Return signature, kind and name, or kernel, of every row function."""
    found = [
        (signature, kind, kind.row_kernel or kind.row_name)
        for signature, families in ROW_FUNCTIONS.items()
        for family in families
        for kind in family.kinds.values()
        if kind.row_kernel or kind.row_name
    ]
    found += [
        (signature, kind, name)
        for kind in FrictionLaw.kinds.values()
        for signature, name in FRICTION_FUNCTIONS.items()
        if hasattr(kind, name)
    ]
    return [item for item in found if item[1].__module__.startswith("nonsmooth.")]


def _compile_rows(kinds: list[tuple[str, type[Element], str]]) -> None:
    from nonsmooth.kernels import abi
    from nonsmooth.pack.packer import load_kernel

    for signature, kind, name in kinds:
        function = load_kernel(name) if ":" in name else getattr(kind, name)
        abi.address(signature, function)


def _first_runs() -> None:
    """Call every kernel that a run, its results and its failures may need."""
    from nonsmooth.solve.equilibrium import equilibrium
    from nonsmooth.solve.simulate import simulate
    from nonsmooth.solve.solvability import solvability
    from nonsmooth.solve.start import assembled

    rod = RigidBody(name="rod", mass=1, inertia=0.1, points={"pin": (0, 0.5)})
    hinge = Revolute(name="hinge", a="ground", b="rod.pin")
    swing = Model(
        gravity=(0, -9.81),
        bodies=(RigidBody(name="free", mass=1, inertia=1), rod),
        joints=(hinge, Revolute(name="twice", a="ground", b="rod.pin")),
        forces=(ExpressionForce(name="spring", b="free", fx="-x", fy="9.81-y"),),
        events=(Event(name="low", b="free", guard="t - 0.005"),),
        assemble=True,
    )
    burst = ExpressionForce(name="burst", b="free", fx="sqrt(0.005 - t)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonsmoothWarning)
        for method in ("auto", "radau"):
            result = simulate(assembled(swing), until=0.01, method=method)
            result.sample([0.003])
            result.summary()
        block = RigidBody(name="block", mass=1, inertia=1)
        belt = MovingSupport(name="belt", x=ConstantRate(rate=1.0))
        sole = Contact(
            name="sole",
            a="belt",
            b="block",
            normal=KelvinVoigt(stiffness=1e4),
            friction=Coulomb(mu=0.1),
        )
        slide = Model(gravity=(0, -9.81), bodies=(belt, block), contacts=(sole,))
        simulate(slide, until=0.01)
        simulate(slide, until=0.01, scheme="paper", step=0.005)
        guide = Prismatic(name="guide", b="block", friction=Coulomb(mu=0.1), length=1.0)
        rub = Model(gravity=(1.0, -9.81), bodies=(block,), joints=(guide,))
        simulate(rub, until=0.01)
        solvability(rub)
        equilibrium(assembled(swing))
        with contextlib.suppress(SolveError):
            simulate(Model(bodies=swing.bodies[:1], forces=(burst,)), until=0.01)
