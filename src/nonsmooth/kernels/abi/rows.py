"""Row functions: laws, joints and bodies, called by address.

A row function is a law or joint written as a plain Python function of pointers
and numbers. It is compiled alone to a C callback; kernels call it through its
address, so a new law never recompiles the solver.

    time law   evaluate(p, t, s)           s[0:3]  = s, s', s''
    joint      rows(p, s, a, b, out)       out[9 r: 9 r + 9], one block per row
    force      wrench(p, s, t, a, b, out)  out[0:8]
    guard      guard(p, t, a, b, out)      out[0:2] = g, g'
    shape      nearest(p, a, b, out)       out[0:4] = distance, normal, its rate
    normal     force(p, overlap, overlap_rate, approach_rate)
    friction   limit(p, lam_n, speed), or force(p, lam_n, v_t, z)
               with rate(p, lam_n, v_t, z)
    body       weigh(p, q, out), inner(p, q, v, out), place(p, s, q, v, out)
               of a body with coordinates of its own, see `mechanics.bodies`

`p` points to the element's parameters, in the order of its fields; `s` to the
values of its time laws, three per law, or of a marker; `a` and `b` to the motion of its
two markers: pose (x, y, theta), rate, acceleration. What each family writes to `out`
is stated at its base class in `nonsmooth.elements`.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from nonsmooth.kernels.abi.linking import callback, lock
from nonsmooth.kernels.abi.pointers import JIT, Vector

_P, _F8 = Vector(types.float64), types.float64
_TYPES = {"t": _F8, "p": _P, "s": _P, "a": _P, "b": _P, "q": _P, "v": _P, "out": _P}
# Arguments of each family; those not in _TYPES are numbers.
_FAMILIES = {
    "law": "p t s",
    "joint": "p s a b out",
    "force": "p s t a b out",
    "guard": "p t a b out",
    "shape": "p a b out",
    "normal": "p overlap overlap_rate approach_rate",
    "limit": "p lam_n speed",
    "smooth": "p lam_n v_t z",
    "rate": "p lam_n v_t z",
    "weigh": "p q out",
    "inner": "p q v out",
    "place": "p s q v out",
}
_RETURNS = {family: _F8 for family in ("normal", "limit", "smooth", "rate")}
SIGNATURES = {
    family: _RETURNS.get(family, types.void)(
        *(_TYPES.get(name, _F8) for name in names.split())
    )
    for family, names in _FAMILIES.items()
}

_callbacks: dict[object, object] = {}  # live as long as the process
_addresses: dict[object, int] = {}
_functions: dict[int, tuple[str, object]] = {}


def address(family, function) -> int:
    """Compile a row function, once per process, and return its address."""
    key = (family, function)
    with lock:
        if key not in _addresses:
            number = _compile(key) if JIT else len(_functions) + 1
            _addresses[key] = number
            _functions[number] = key
        return _addresses[key]


def functions(numbers):
    """Return (family, function) for each address."""
    return [_functions[number] for number in numbers.tolist()]


def _compile(key):
    family, function = key
    # A user's function is never cached: it may call code in files that Numba
    # does not watch, and it compiles in a fraction of a second.
    ours = str(function.__module__).startswith("nonsmooth.")
    _callbacks[key] = callback(function, SIGNATURES[family], is_kept=ours)
    return _callbacks[key].address


def _emit_call(context, builder, sig, args):
    """Call the function at args[0] with the other arguments."""
    kinds = [context.get_value_type(arg) for arg in sig.args[1:]]
    is_void = sig.return_type == types.void
    returns = ir.VoidType() if is_void else context.get_value_type(sig.return_type)
    function_type = ir.FunctionType(returns, kinds)
    function = builder.inttoptr(args[0], function_type.as_pointer())
    value = builder.call(function, args[1:])
    return context.get_dummy_value() if is_void else value


def _caller(family, sig):
    """Return `call(address, ...)` for a family, for use in kernels."""
    names = ", ".join(_FAMILIES[family].split())
    if not JIT:
        return eval(
            f"lambda address, {names}: _functions[address][1]({names})",
            {"_functions": _functions},
        )
    full = sig.return_type(types.int64, *sig.args)
    # An intrinsic needs its arguments by name.
    return intrinsic(
        eval(
            f"lambda typing, address, {names}: (full, emit)",
            {"full": full, "emit": _emit_call},
        )
    )


call_law = _caller("law", SIGNATURES["law"])
call_joint = _caller("joint", SIGNATURES["joint"])
call_force = _caller("force", SIGNATURES["force"])
call_guard = _caller("guard", SIGNATURES["guard"])
call_shape = _caller("shape", SIGNATURES["shape"])
call_normal = _caller("normal", SIGNATURES["normal"])
call_limit = _caller("limit", SIGNATURES["limit"])
call_smooth = _caller("smooth", SIGNATURES["smooth"])
call_weigh = _caller("weigh", SIGNATURES["weigh"])
call_inner = _caller("inner", SIGNATURES["inner"])
call_place = _caller("place", SIGNATURES["place"])


if JIT:

    @intrinsic
    def call_look(typing, address):
        """Let Python look in: call a function of no arguments at an address."""
        return types.void(types.int64), _emit_call

else:

    def call_look(address):
        """Let Python look in: with the JIT off it does so all the time."""
