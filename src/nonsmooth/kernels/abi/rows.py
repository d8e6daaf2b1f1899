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

from nonsmooth.kernels.abi.blocks import FLOATS, NUMBER
from nonsmooth.kernels.abi.linking import JIT, Far, Intrinsic, lock

# Arguments of each family: pointers, or numbers.
_POINTERS = {"p", "s", "a", "b", "q", "v", "out"}
_ARGUMENTS = {
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
FAMILIES = {
    family: {name: FLOATS if name in _POINTERS else NUMBER for name in names.split()}
    for family, names in _ARGUMENTS.items()
}
ROW_RETURNS = {family: NUMBER for family in ("normal", "limit", "smooth", "rate")}

_addresses: dict[object, int] = {}
_functions: dict[int, tuple[str, object]] = {}


class Row(Far):
    """A row function, compiled alone."""

    def __init__(self, family, function):
        kinds = tuple(FAMILIES[family].values())
        super().__init__(function, kinds, ROW_RETURNS.get(family))
        self.symbol = f"{family} {function.__module__}.{function.__qualname__}"
        self.family = family

    def _find(self):
        if self.is_ours:
            return super()._find()
        from nonsmooth.kernels.abi import own

        return own.load(self)


def address(family, function) -> int:
    """Return the address of a row function, compiled once per process."""
    key = (family, function)
    with lock:
        if key not in _addresses:
            number = Row(*key).address if JIT else len(_functions) + 1
            _addresses[key] = number
            _functions[number] = key
        return _addresses[key]


def functions(numbers):
    """Return (family, function) for each address."""
    return [_functions[number] for number in numbers.tolist()]


def _caller(family):
    """Return `call(address, ...)` for a family, for use in kernels."""
    if JIT:
        return Intrinsic(f"call_{family}")
    names = ", ".join(FAMILIES[family])
    return eval(
        f"lambda address, {names}: _functions[address][1]({names})",
        {"_functions": _functions},
    )


call_law = _caller("law")
call_joint = _caller("joint")
call_force = _caller("force")
call_guard = _caller("guard")
call_shape = _caller("shape")
call_normal = _caller("normal")
call_limit = _caller("limit")
call_smooth = _caller("smooth")
call_weigh = _caller("weigh")
call_inner = _caller("inner")
call_place = _caller("place")
