"""Exceptions, and the sentence for every way a run can fail.

Bad input is a `ModelError`, raised when a model is built or packed. Failed
numerics are a `SolveError`, which carries the partial result; so does `Interrupted`,
which is Ctrl-C. Kernels return small integers; this module owns the words.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from nonsmooth.result import Result

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class ModelError(ValueError):
    """The description of a model, or an option of a run, is not valid.

    Attributes
    ----------
    others : tuple of str
        What else is wrong in the same file.
    """

    others: tuple[str, ...] = ()


class SolveError(RuntimeError):
    """A run could not go on.

    Attributes
    ----------
    result : Result or None
        What was computed before the failure.
    """

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class SwitchError(SolveError):
    """No mode, or more than one, satisfies the laws at an event."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run.

    Not a `SolveError`: a loop that skips runs that fail must end at Ctrl-C.

    Attributes
    ----------
    result : Result or None
        What was computed until then.
    """

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class NonsmoothWarning(UserWarning):
    """Something a user should know about a result that is still valid."""


TOO_LARGE = "too large, numbers end at 1.8e308"
MAX_SHOWN = 200  # letters of a value in a message
MAX_NAME = 60  # of a name

# Why a run failed; `solve.simulate` fills in when, where and what.
FAILURES = {
    "not_finite": (
        "t = {t:.9g} s: {who} is not finite (NaN or overflow){at}; check its law and "
        "parameters there"
    ),
    "unstable": (
        "t = {t:.9g} s: the motion has grown without bound; the fixed step of {h:g} s "
        "is too long for it{why}: try a shorter one"
    ),
    "dropped": (
        "t = {t:.9g} s, body '{who}': a flight with {n} modes would drop {lost:.3g} J, "
        "{part:.3g} % of the energy; flight_loss allows {allowed:.3g} %: try more "
        "flight_modes, flight_modes='all', or a larger flight_loss"
    ),
    "cannot_assemble": (
        "t = {t:.9g} s: the constraints cannot be met any more, {who}; the mechanism "
        "locks, or a drive asks for more than it can reach"
    ),
    "newton_failed": (
        "t = {t:.9g} s: the implicit method does not converge; a law may jump there: "
        "smooth it, as tanh(v/0.001) does sign(v), or try method='dop853'"
    ),
    "singular": (
        "t = {t:.9g} s: the mechanism has come to a singular pose it cannot pass; it "
        "locks, or a drive asks for more than it can reach"
    ),
    "undecided": (
        "t = {t:.9g} s, contacts {who}: the friction problem of the contacts at rest "
        "was not solved (modes until then: {modes}); {advice}"
    ),
    "wrong_mode": (
        "t = {t:.9g} s, contacts {who}: no mode found satisfies Coulomb's law (last "
        "tried: {modes}); {advice}"
    ),
    "several": (
        "t = {t:.9g} s, {who}: friction has {n} solutions here: {solutions}. A rigid "
        "joint with this much friction locks itself (Painlevé), and which solution a "
        "real one takes depends on its elasticity; try less friction, another drive, a "
        "Prismatic with clearance, or choose with branch='continue' or 'least'"
    ),
    "no_solution": (
        "t = {t:.9g} s, {who}: no forces satisfy the friction law here: the joint jams "
        "(Painlevé), and a rigid mechanism cannot go on; try less friction, another "
        "drive, or a Prismatic with clearance"
    ),
    "not_unique": (
        "t = {t:.9g} s, {who}: from here on friction need not have one solution (the "
        "least determinant of S + S* D falls through zero; here: {solutions}). A rigid "
        "joint with this much friction may lock itself or jam (Painlevé); try less "
        "friction, another drive, a Prismatic with clearance, or go on with "
        "branch='continue' or 'least'"
    ),
    "jams": (
        "t = {t:.9g} s, {who}: the joint jams: its forces grow without bound (the "
        "least determinant of S + S* D is down to {margin:.2g} of that without "
        "friction; here: {solutions}). A rigid joint with this much friction locks "
        "itself there (Painlevé); try less friction, another drive, or a Prismatic "
        "with clearance"
    ),
    "jammed": (
        "t = {t:.9g} s, {who}: the solution followed ends here (the determinant of its "
        "flanks falls through zero, forces grow without bound): the joint jams; try "
        "less friction, another drive, or a Prismatic with clearance"
    ),
    "chattering": (
        "t = {t:.9g} s, contacts {who}: the mode changes again and again without time "
        "passing (last: {modes}); {advice}"
    ),
    "too_deep": (
        "t = {t:.9g} s, contact '{who}': the outlines overlap by {depth:.4g} m, more "
        "than {most:.3g} m, a quarter of the thickness of the thinner; no compliant "
        "law describes that: try a stiffer normal law (stiffness is in N/m to the "
        "power of the exponent), or a thicker shape"
    ),
    "locked": (
        "t = {t:.9g} s, contact '{who}': the outlines overlap by {depth:.4g} m, more "
        "than {most:.3g} m, a quarter of the thickness of the thinner: it sticks while "
        "{mover} moves on, so that friction locks it, and a stiffer normal law would "
        "raise the force only. Let a spring push instead of what is prescribed, with "
        "no more than {load:.3g} N, which it bears at that depth; or try a motion that "
        "ends before, or coefficients of friction below {needed:.3g}, where it slips"
    ),
    "pushed": (
        "t = {t:.9g} s, contact '{who}': the outlines overlap by {depth:.4g} m, more "
        "than {most:.3g} m, a quarter of the thickness of the thinner, while {mover} "
        "moves on: if they could give way, try a stiffer normal law (stiffness is in "
        "N/m to the power of the exponent); if the way is blocked that would raise the "
        "force only: let a spring push instead of what is prescribed, with no more "
        "than {load:.3g} N, which it bears at that depth, or try a motion that ends "
        "before"
    ),
    "through_disc": (
        "t = {t:.9g} s, contact '{who}': it overlaps by {depth:.4g} m, more than "
        "{most:.3g} m, half way to where {middle}; no compliant law describes that: "
        "try a stiffer normal law (stiffness is in N/m to the power of the exponent), "
        "or a drive that yields"
    ),
    "into_segment": (
        "t = {t:.9g} s, contact '{who}': it overlaps by {depth:.4g} m, more than "
        "{most:.3g} m, a quarter of the length of the segment; no compliant law "
        "describes that: try a stiffer normal law (stiffness is in N/m to the power of "
        "the exponent), a longer segment, or a drive that yields"
    ),
    "not_pressed": (
        "t = {t:.9g} s, contact '{who}': no forces were found that keep its nodes from "
        "overlapping; the last try closed {n} of {of} nodes ({which}). Nodes that give "
        "way only together have no forces of their own: try a coarser patch, or a "
        "penalty"
    ),
    "not_borne": (
        "t = {t:.9g} s, joint '{who}': no pattern of contact was found that bears its "
        "load; the last try closed {n} of {of} nodes ({which}). Much friction on a "
        "block that is short beside its height may have none: try less friction, a "
        "longer block, other cells, or a penalty"
    ),
    "too_rough": (
        "t = {t:.9g} s, contact '{who}': with {n} of {of} nodes closed ({which}) the "
        "matrix of their pattern has a pivot that is not positive: friction is so "
        "large beside the patch's flexibility that forces need not be unique. Try a "
        "smaller mu, or a coarser patch"
    ),
    "memory": (
        "t = {t:.9g} s: out of memory after {n} steps, which are kept; make the run "
        "shorter or split it with start=result.state(), or use a larger rtol"
    ),
    "unexplained": (
        "t = {t:.9g} s: the run could not go on, and numbers there are too large or "
        "not finite to tell why; try a smaller rtol or step, or projection, not "
        "Baumgarte's stabilisation"
    ),
    "step_too_small": (
        "t = {t:.9g} s: the step has shrunk to round-off; a law may jump there, or "
        "grow without bound; {advice}"
    ),
}

# What to try where modes or steps come to no end; `solve.undecided` chooses.
ADVICE = {
    "fixed": (
        "the fixed step of {h:g} s may be too long: try adaptive steps (without step), "
        "or a shorter one"
    ),
    "friction": "try friction=RegularisedCoulomb(...) there",
    "law": "smooth what jumps, as tanh(v/0.001) does sign(v)",
}


def worded(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that refuses wrong arguments in the words of elements.

    What Python says of them, a TypeError, names neither what would be valid nor the
    nearest name.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            if why := _misfit(function, args, kwargs):
                raise ModelError(why) from None
            raise

    return call


def worded_methods(cls: type[T]) -> type[T]:
    """Make all public methods of a class `worded`, and how it is made."""
    for name, value in list(vars(cls).items()):
        if inspect.isfunction(value) and (name == "__init__" or name[0] != "_"):
            setattr(cls, name, worded(value))
    return cls


def _misfit(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> str:
    """Return what is wrong with the arguments of a call, "" if nothing is."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        pass
    else:
        return ""
    parameters = signature.parameters
    own = [name for name in parameters if name != "self"]
    called = function.__qualname__.removesuffix(".__init__")
    known = [n for n in own if parameters[n].kind is not inspect.Parameter.VAR_KEYWORD]
    for name in kwargs:
        if name not in known:
            return f"{called}: no argument '{name}'; {nearest(name, known)}"
    by_place = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    places = [name for name, p in parameters.items() if p.kind in by_place]
    if len(args) > len(places):
        more = [name for name in known if name not in places]
        hint = f"write its name: {', '.join(more)}" if more else "one too many"
        return f"{called}: {show(args[len(places)])} given without a name; {hint}"
    for name in places[: len(args)]:
        if name in kwargs:
            return f"{called}: {name} is given twice; give it once"
    for name in known:
        is_open = parameters[name].default is inspect.Parameter.empty
        if is_open and name not in kwargs and name not in places[: len(args)]:
            return f"{called}: {name} is missing; give {name}=..."
    return ""


def show(value: object) -> str:
    """Return a value as text for a message, however large it is.

    >>> show(0.5), show(10**5000)
    ('0.5', 'a huge number')
    """
    if inspect.isfunction(value):
        return f"function {value.__name__}"
    try:
        text = _labels(value) or repr(value)
    except ValueError:  # Python writes whole numbers of a few thousand digits only
        return "a huge number"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def _labels(value: object) -> str:
    """Return what messages call a named element or a list of some, else ""."""
    if isinstance(value, list | tuple):
        items = [_labels(item) for item in cast(Sequence[object], value)]
        return f"[{', '.join(items)}]" if items and all(items) else ""
    label, name = getattr(value, "label", None), getattr(value, "name", None)
    return str(label()) if callable(label) and isinstance(name, str) else ""


def brief(text: object) -> str:
    """Return a name in quotes for a message: short, and in one line.

    >>> brief("crank"), len(brief("x" * 5000))
    ("'crank'", 62)
    """
    shown = str(text)
    if not shown.isprintable():
        shown = repr(shown)[1:-1]
    return f"'{shown if len(shown) <= MAX_NAME else shown[: MAX_NAME - 3] + '...'}'"


def nearest(name: str, valid: Iterable[str], *, is_short: bool = False) -> str:
    """Return the sentence that names the valid choices nearest to `name`.

    Of a short list all are named: the nearest in letters may do another thing.

    >>> nearest("crnak", ["crank", "rod"])
    "did you mean 'crank'?"
    >>> nearest("x", ["crank", "rod"])
    'valid: crank, rod'
    >>> nearest("rk45", ["auto", "rk4"], is_short=True)
    "did you mean 'rk4'? valid: auto, rk4"
    """
    names = [one if len(one) <= MAX_NAME else brief(one)[1:-1] for one in valid]
    close = difflib.get_close_matches(str(name)[:MAX_SHOWN], names, n=1)
    meant = f"did you mean '{close[0]}'?" if close else ""
    if meant and not is_short:
        return meant
    if not names:
        return "there are none to choose from"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"{meant} valid: {shown}".strip()
