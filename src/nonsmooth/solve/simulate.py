"""The simulation: from a model to a result."""

from __future__ import annotations

import math
from typing import Any

from nonsmooth.errors import ModelError, show, worded
from nonsmooth.model import Model
from nonsmooth.pack import System, pack
from nonsmooth.pack.magnitudes import notes_on_angles
from nonsmooth.result import Result, State
from nonsmooth.result.kept import Store
from nonsmooth.solve.apart import Drivers
from nonsmooth.solve.driver import Driver
from nonsmooth.solve.flight import Journey
from nonsmooth.solve.jumps import check_jumps
from nonsmooth.solve.modes import mode_array
from nonsmooth.solve.options import MEMORY, Baumgarte, Options
from nonsmooth.solve.progress import Progress
from nonsmooth.solve.schemes import SCHEMES
from nonsmooth.solve.start import (
    check_overlaps,
    check_redundancy,
    check_state,
    consistent_start,
    in_the_air,
    initial_values,
    moved,
)

# Fixed steps of one run.
MAX_STEPS = 1e12


@worded
def simulate(
    model: Model | System,
    until: float | None = None,
    *,
    start: State | None = None,
    method: str = "auto",
    rtol: float = 1e-8,
    atol: float | None = None,
    step: float | None = None,
    courant: float | None = None,
    max_step: float = math.inf,
    stabilisation: str | Baumgarte | None = None,
    scheme: str | None = None,
    branch: str = "unique",
    loose: bool = False,
    memory: float = MEMORY,
    beyond: str = "file",
    assemble: bool | None = None,
    progress: Progress | None = None,
) -> Result:
    """Simulate a model from its start, or a given state, until a time.

    Parameters
    ----------
    model : Model or System
        What to simulate; a packed system saves packing again.
    until : float, optional
        End, s; that of the model's `run` by default.
    start : State, optional
        A state of an earlier run, `result.state(t)`; the model's own start at
        t = 0 by default. The run goes on in the state's mode where that agrees with
        it.
    method, rtol, atol, step, courant, max_step, stabilisation, scheme, branch, loose
        See `Options`; the scheme is "waves" for a model of bodies with modes = "full",
        else "events", unless another is given.
    memory, beyond
        What the log may take, and what happens to more: see `Options`.
    assemble : bool, optional
        Overrides the model's `assemble`.
    progress : callable, optional
        Called now and then with the part of the interval done, 0 to 1: a number with
        the time reached `t`, the contacts `closed` then, and both in `words`.

    Returns
    -------
    Result

    Raises
    ------
    ModelError
        Bad input, before anything is computed.
    SolveError
        The run could not go on; its `result` holds what was computed.
    Interrupted
        The user stopped it; a KeyboardInterrupt whose `result` holds what was computed.
    """
    options = Options(
        method=method,
        rtol=rtol,
        atol=atol,
        step=step,
        courant=courant,
        max_step=max_step,
        stabilisation=stabilisation,
        scheme=_scheme(model) if scheme is None else scheme,
        branch=branch,
        memory=memory,
        beyond=beyond,
        loose=loose,
    )
    if not isinstance(model, Model | System):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"model = {show(model)}; give a Model or a System")
    if assemble not in (None, True, False):
        raise ModelError(f"assemble = {show(assemble)}; give True, False or None")
    check_state(start)
    system = model if isinstance(model, System) else pack(model)
    t_start = start.t if start is not None else 0.0
    if until is None and system.model.run is not None:
        until = system.model.run.until
    t_end = _end(until, t_start, options.step, system)
    if system.full or options.scheme == "waves":
        return _waves(system, options, start, t_end, progress)
    if options.scheme == "appended":
        if start is not None:
            raise ModelError("start: scheme 'appended' begins at the model's start")
        # Finite elements are an extra, and slow to import.
        from nonsmooth.solve.appended import march_appended

        return march_appended(system, options, t_end, progress)
    chosen = SCHEMES[options.scheme]
    chosen.check(system, options)
    work = system.work()
    if options.scheme == "paper" and not assemble:
        q, v = initial_values(system, start)
    else:
        is_given = options.scheme == "paper"
        wanted = bool(assemble) if is_given else assemble
        q, v = consistent_start(system, work, t_start, start, wanted)
    check_overlaps(system, work, t_start, q, v, is_new=start is None)
    check_jumps(system, work, t_start, t_end)
    notes = [check_redundancy(system, work, t_start, q, v)]
    notes.append(moved(system, start, q, v))
    if start is None:
        notes.append(in_the_air(system, t_start, q, v))
        notes += notes_on_angles(system.model)
    store = Store(budget=options.memory, beyond=options.beyond)
    said = [note for note in notes if note]
    if options.scheme == "events" and system.parts and system.flight is None:
        parts = Drivers(system, options, chosen, t_start, t_end, q, v, start, store)
        return parts.run(progress, said)
    driver = Driver(system, options, chosen, work, t_start, t_end, q, v, store=store)
    if start is not None:
        driver.go_on_in(start)
    driver.notes += said
    if system.flight is not None:
        return Journey(driver, system.flight, _flies(system, start)).run(progress)
    return driver.run(progress)


def _flies(system: System, start: State | None) -> bool:
    """Return whether a state is of a flight with few shapes."""
    mode = None if start is None else mode_array(system, start)
    if mode is None or system.flight is None:
        return False
    return bool(system.flight.is_flying(mode[None])[0])


def _end(until: Any, t_start: float, step: float | None, system: System) -> float:
    """Return the end of a run; refuse one that is none."""
    try:
        end = float(until)
    except (TypeError, ValueError, OverflowError):
        end = math.nan
    if isinstance(until, str | bool) or not (math.isfinite(end) and end > t_start):
        raise ModelError(f"until = {show(until)}; must be a time > {t_start:g} s")
    if step is not None and end - t_start > MAX_STEPS * step:
        raise ModelError(
            f"step = {step:g} s: {(end - t_start) / step:.3g} steps until {end:g} s; "
            f"at most {MAX_STEPS:g}"
        )
    low, high = system.span
    if t_start < low or end > high:
        raise ModelError(
            f"until = {end:g} s: a table of the model is defined from {low:g} to "
            f"{high:g} s only"
        )
    return end


def _scheme(model: Any) -> str:
    """Return the scheme of a model for which none is given."""
    bodies = getattr(getattr(model, "model", model), "bodies", ())
    is_full = any(getattr(body, "modes", None) == "full" for body in bodies)
    return "waves" if is_full else "events"


def _waves(
    system: System,
    options: Options,
    start: State | None,
    until: float,
    progress: Progress | None,
) -> Result:
    """March full finite elements."""
    if options.scheme != "waves":
        raise ModelError(
            f"body '{system.full[0]}': modes = 'full' is for scheme 'waves', not "
            f"'{options.scheme}'; leave scheme out, or give a number of modes"
        )
    if start is not None:
        raise ModelError("start: a run of scheme 'waves' begins at the model's start")
    # Finite elements are an extra, and slow to import.
    from nonsmooth.solve.waves import march_waves

    return march_waves(system, options, until, progress)
