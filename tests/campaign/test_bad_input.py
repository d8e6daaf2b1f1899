# Wrong types are what these tests are about.
# pyright: reportCallIssue=false, reportArgumentType=false
"""Thousands of ways to be wrong, each answered by a sentence.

Every gallery model as a file mutated systematically, hostile texts, command lines and
calls from Python. None may end in a traceback, without place, value or remedy, or be
accepted as if it were sense.
"""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nonsmooth as ns
from campaign.judge import Tally, judge
from campaign.mutations import TEXTS, mutations
from nonsmooth import gallery, io
from nonsmooth.app.cli import main
from nonsmooth.elements.base import Element
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.pack import pack

pytestmark = pytest.mark.slow
SHOWN = 40  # failures in a message
ODD: tuple[Any, ...] = (
    None,
    "text",
    "",
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    [],
    {},
    [1, 2, 3, 4, 5],
    {"a": 1},
    True,
    object,
    b"bytes",
    1j,
    "x" * 5000,
)


def settle(tally: Tally, least: int) -> None:
    """Fail if an answer was not good, or if there were too few questions."""
    n = sum(tally.n.values())
    print(f"{n} cases: {dict(tally.n)}")
    lines = "\n".join(tally.bad[:SHOWN])
    assert not tally.bad, f"{len(tally.bad)} of {n}, {dict(tally.n)}:\n{lines}"
    assert n >= least


@pytest.mark.parametrize("name", gallery.names())
def test_mutations_of_gallery_models(name):
    """Read as data; what is accepted is also packed, if that is cheap."""
    data = io.to_dict(gallery.build(name))
    tally = Tally()
    seen: set[tuple[Any, ...]] = set()
    for m in mutations(data):
        # Of alike elements one is enough.
        kinds = tuple("#" if isinstance(step, int) else step for step in m.steps)
        key = (
            kinds,
            m.what,
            repr(m.value)[:40],
            repr(m.data)[-200:] * (m.value is ...),
        )
        if key in seen:
            continue
        seen.add(key)

        def call(given: Any = m.data) -> None:
            model = io.from_dict(given)
            if not any(isinstance(body, FlexibleBody) for body in model.bodies):
                pack(model)

        path = ".".join(map(str, m.steps))
        case = f"{name}: {m.what} at {path}, {repr(m.value)[:60]}"
        is_open = m.must_refuse
        judge(tally, case, call, place=m.place, value=m.value, must_refuse=is_open)
    settle(tally, 250)


def texts() -> Iterator[tuple[str, str]]:
    """Yield texts that are no models, and what they are."""
    good = io.dumps(gallery.build("belt"))
    for n in range(0, len(good) - 1, 9):
        yield "cut", good[:n]
    for n in range(0, len(good), 5):
        for letter in "\x00\t{[&*!%@`\"':\\\ud800" if n % 25 == 0 else "{:&":
            yield "broken", good[:n] + letter + good[n + 1 :]
    yield "deep", "[" * 10_000
    yield "deep", "nonsmooth: 1\nbodies: " + "{a: " * 5000
    yield "bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n"
    yield "tag", "nonsmooth: 1\nbodies: !!python/object/apply:os.system ['true']\n"
    yield "tag", "!!binary aGVsbG8="
    yield "merge", "nonsmooth: 1\n<<: {bodies: []}\n"
    yield "two documents", "nonsmooth: 1\n---\nnonsmooth: 1\n"
    yield "twice", "nonsmooth: 1\nnonsmooth: 1\nbodies: []\n"
    for version in ("0", "2", "1.5", "'1'", "true", "null", "[]", "1e400"):
        yield "version", f"nonsmooth: {version}\nbodies: []\n"
    for text in ("", " ", "\n", "null", "[]", "7", "text", "---", "\ufeff", "# none"):
        yield "empty", text
    for name in ("", "belts", "../belt", "os", "7", "null", "[belt]", "x" * 5000):
        yield "gallery", f"nonsmooth: 1\ngallery: {name}\n"
    for value in ("abc", "-1", ".nan", ".inf", "[]", "{}", "null", "1e400", "''"):
        for key in ("speed", "mass", "spead", "mu"):
            yield (
                "parameter",
                f"nonsmooth: 1\ngallery: belt\nparameters: {{{key}: {value}}}",
            )


def test_hostile_texts():
    tally = Tally()
    for what, text in texts():
        case = f"{what}: {text[-60:]!r}"
        is_wrong = what not in ("broken", "cut", "parameter")

        def call(text: str = text) -> None:
            io.loads(
                text, source="model.yaml", gallery=lambda n, p: gallery.build(n, **p)
            )

        judge(tally, case, call, place=("model.yaml",), must_refuse=is_wrong)
        if what in ("cut", "deep", "empty", "version"):

            def call_json(text: str = text) -> None:
                io.loads(text, "json", source="model.json")

            judge(tally, f"json, {case}", call_json, place=("model.json",))
    settle(tally, 500)


EXPRESSIONS = (
    "",
    " ",
    "x",
    "t +",
    "(t",
    "t)",
    "sin",
    "sin()",
    "sin(t, t)",
    "__import__('os')",
    "t.real",
    "t[0]",
    "lambda: 1",
    "1/0",
    "10**10**10",
    "t if t else 1",
    "'a'",
    "t = 1",
    "nan",
    "inf",
    "t;t",
    "t\x00",
    "ünï",
    "+" * 10_000 + "t",
    "(" * 1000 + "t" + ")" * 1000,
    "t and t",
    "not t",
    "0x10",
    "1e999",
    "t << 2",
    "f'{t}'",
    "max(t)",
    "[t]",
    "{t}",
    "t,",
    "*t",
    "await t",
    "open('x')",
    "print(t)",
)
# Numbers as they stand are expressions too.
FINE = {"0x10", "nan", "inf"}


def test_expressions():
    tally = Tally()
    for text in EXPRESSIONS:
        for what, make in (
            ("Expression", lambda s: ns.Expression(text=s)),
            ("f", lambda s: ns.ExpressionForce(name="f", b="a", fx=s)),
            ("e", lambda s: ns.Event(name="e", b="a", guard=s)),
        ):
            is_x = text in ("x", "t and t", "not t") and what != "Expression"
            must = text not in FINE and not is_x and "t if" not in text
            judge(
                tally,
                f"{what}: {text[:30]!r}",
                lambda text=text, make=make: make(text),
                place=(what,),
                must_refuse=must,
            )
    settle(tally, 100)


def parts(element: Element) -> Iterator[Element]:
    """Yield an element and all inside it."""
    yield element
    for item in dataclasses.fields(element):
        value = getattr(element, item.name)
        inner = value.values() if isinstance(value, dict) else value
        for one in (
            inner if isinstance(inner, tuple | list) or inner is not value else (value,)
        ):
            if isinstance(one, Element):
                yield from parts(one)


def kinds() -> dict[type[Element], Element]:
    """Return an element of every kind that the gallery has."""
    found: dict[type[Element], Element] = {}
    for name in gallery.names():
        for element in parts(gallery.build(name)):
            found.setdefault(type(element), element)
    return found


def test_elements_from_python():
    """Each field of each kind with values that have no meaning."""
    tally = Tally()
    found = kinds()
    for kind, element in found.items():
        label = (kind.__name__, kind.family, *([element.label()]))
        names = {f.name: f for f in dataclasses.fields(kind) if f.init}
        given = {name: getattr(element, name) for name in names}
        for name, item in names.items():
            text = str(item.type)
            for odd in ODD:
                is_optional = odd is None and "None" in text
                is_text = isinstance(odd, str) and "str" in text
                is_empty = odd in ([], {}) and ("tuple" in text or "dict" in text)
                is_empty |= odd == [] and "Many" in text
                is_list = isinstance(odd, list) and "tuple[float" in text
                is_bool = odd is True and "bool" in text
                must = not (is_optional or is_text or is_empty or is_list or is_bool)

                whole = {**given, name: odd}

                def call(kind: Any = kind, whole: Any = whole) -> None:
                    kind(**whole)

                case = f"{kind.__name__}({name}={repr(odd)[:30]})"
                judge(tally, case, call, place=(name, *label), must_refuse=must)

        def extra() -> None:
            kind(**given, colour="red")  # noqa: B023

        def by_place() -> None:
            kind(*given.values())  # noqa: B023

        judge(tally, f"{kind.__name__}(colour=)", extra, place=label)
        judge(tally, f"{kind.__name__}(...)", by_place, place=label)
        for name, item in names.items():
            is_open = item.default is item.default_factory
            if is_open:
                fewer = {key: x for key, x in given.items() if key != name}
                judge(
                    tally,
                    f"{kind.__name__} without {name}",
                    lambda fewer=fewer, kind=kind: kind(**fewer),
                    place=(name,),
                )
    assert len(found) > 25
    settle(tally, 1500)


def test_calls_from_python():
    """Options of a run, and questions to its result."""
    tally = Tally()
    model = gallery.build("pendulum_chain")
    result = ns.simulate(model, 0.05)
    options = ("method", "rtol", "atol", "step", "max_step", "stabilisation", "scheme")
    for name in (*options, "branch", "loose", "assemble", "start", "until"):
        for odd in ODD:
            fine = {"atol", "step", "scheme", "stabilisation", "assemble", "start"}
            is_fine = odd is None and name in fine
            is_fine |= odd is True and name in ("loose", "assemble")
            is_fine |= odd is math.inf and name == "max_step"
            given = {"until": 0.01} | {name: odd}

            def call(given: Any = given) -> None:
                ns.simulate(model, **given)

            case = f"simulate({name}={repr(odd)[:30]})"
            judge(tally, case, call, place=(name,), value=odd, must_refuse=not is_fine)
    questions = {
        "sample": ("t", "names", "limit"),
        "state": ("t", "limit"),
        "energies": ("t",),
        "plot": ("names",),
        "plot_paths": ("points",),
        "draw": ("t", "scale"),
        "verify": ("factor",),
        "field": ("body", "name"),
        "pressure": ("contact",),
    }
    for question, names in questions.items():
        for name in names:
            for odd in ODD:
                is_fine = odd is None or (odd in ([], {}) and name in ("t", "names"))
                is_fine |= odd is True and name in ("t", "scale")
                given = {name: odd}
                if question == "field":
                    given = {"body": "rod1", "name": "stress"} | given

                def ask(question: str = question, given: Any = given) -> None:
                    getattr(result, question)(**given)

                case = f"{question}({name}={repr(odd)[:30]})"
                judge(tally, case, ask, must_refuse=not is_fine)
        for wrong in ({"colour": 1}, {"tt": 1}):
            ask = getattr(result, question)
            case = f"{question}({wrong})"
            judge(tally, case, lambda ask=ask, w=wrong: ask(**w), place=tuple(wrong))
    for system in gallery.names():
        for p in gallery.parameters(system):
            for odd in ("abc", math.nan, math.inf, [], {}, 10**400):
                is_text = isinstance(p.default, str) and odd == "abc"

                def build(system: str = system, p: Any = p, odd: Any = odd) -> None:
                    gallery.build(system, **{p.name: odd})

                case = f"{system}({p.name}={repr(odd)[:30]})"
                judge(tally, case, build, place=(p.name,), must_refuse=not is_text)
    settle(tally, 800)


def command_lines(folder: Path) -> Iterator[list[str]]:
    """Yield command lines that cannot be carried out."""
    (folder / "empty.yaml").write_text("")
    (folder / "noise.yaml").write_bytes(bytes(range(256)))
    (folder / "model.txt").write_text("nonsmooth: 1\n")
    (folder / "folder.yaml").mkdir()
    (folder / "bad.py").write_text("raise RuntimeError('no')\n")
    files = ["empty.yaml", "noise.yaml", "model.txt", "folder.yaml", "none.yaml"]
    names = [str(folder / name) for name in files]
    systems = ["belts", "", ".", "/", "a/b", "\x00", "x" * 300, "--", *names]
    for command in ("run", "check", "draw", "modes"):
        yield [command]
        for system in systems:
            yield [command, system]
        for setting in ("", "=", "a", "mu=", "mu=abc", "mu=nan", "mu=-1", "mu=1e400"):
            yield [command, "belt", "--set", setting]
        for setting in ("nu=1", "block.mas=1", "nobody.mass=1", "block.mass=x"):
            yield [command, "belt", "--set", setting]
        yield [command, "belt", "--set", "mu=0.1", "--set", "mu=0.2"]
        yield [command, "belt", "--set"]
        yield [command, "belt", "--colour", "red"]
        yield [command, "belt", "--import", str(folder / "bad.py")]
        yield [command, "belt", "--import", "none.py"]
    for option in ("until", "rtol", "atol", "step", "max-step", "every", "at"):
        for value in ("abc", "", "nan", "inf", "-1", "0", "1e400", "1,5", "1 2", None):
            if option == "at" and value == "0":
                continue
            more = {"every": ["--save", "a.csv"], "at": ["--pose", "a.svg"]}
            tail = [] if value is None else [value]
            yield ["run", "belt", *more.get(option, []), f"--{option}", *tail]
    for option in ("scheme", "branch", "method"):
        for value in ("abc", "", "7", None):
            yield ["run", "belt", f"--{option}", *([] if value is None else [value])]
    for option in ("save", "plot", "report", "video", "save-events", "pose"):
        for value in ("", "a", "a.xyz", "/no/such/a.csv", "/no/such/a.png", None):
            yield ["run", "belt", f"--{option}", *([] if value is None else [value])]
        yield ["run", "belt", f"--{option}", str(folder)]
    yield ["run", "belt", "--rtol", "0.1"]
    yield ["run", "belt", "--baumgarte", "1"]
    yield ["run", "belt", "--baumgarte", "a", "b"]
    yield ["run", "belt", "--plot-names", "block.x"]
    yield ["run", "belt", "--every", "0.1"]
    yield ["run", "belt", "extra"]
    yield [
        "run",
        "belt",
        "--until",
        "1",
        "--plot",
        "a.png",
        "--plot-names",
        "nothing.x",
    ]
    yield from (["rum"], ["--colour"], [""], ["run", "-x"], ["completion"])
    yield ["completion", "tcsh"]
    yield ["gallery", "belts"]
    yield ["gallery", "belt", "belt"]
    yield ["schema", "--out", "/no/such/file.json"]
    for study in ("none.yaml", "nothing", *names):
        yield ["sweep", study]
    yield ["sweep", "belt_speed", "--workers", "abc"]
    yield ["sweep", "belt_speed", "--executor", "abc"]
    yield ["sweep", "belt_speed", "--save", "a.xyz"]


def test_command_lines(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tally = Tally()
    for argv in command_lines(tmp_path):
        case = " ".join(argv)[:100]

        def call(argv: list[str] = argv) -> None:
            code = main(argv)
            out, err = capsys.readouterr()
            if code == 0:
                return
            assert code in (1, 2), code
            assert err.startswith("error: ")
            assert "Traceback" not in out + err
            raise ns.ModelError(err.removeprefix("error: ").strip())

        judge(tally, case, call)
    settle(tally, 200)


def test_texts_are_not_taken_for_numbers():
    """The mutations above lean on this."""
    assert all(not text.strip().isdigit() for text in TEXTS)
