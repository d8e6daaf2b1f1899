"""The header of a scene document, field by field, as `web/src/format.ts` has it."""

import json
from itertools import pairwise

import jsonschema

from nonsmooth.views.figure import MODES

NUMBER, TEXT, POINT = (
    {"type": "number"},
    {"type": "string"},
    {
        "type": "array",
        "items": {"type": "number"},
        "minItems": 2,
        "maxItems": 2,
    },
)
SCALAR = {"type": ["string", "number", "boolean", "null"]}
MARKER = {"body": TEXT, "point": POINT}


def record(fields, **optional):
    return {
        "type": "object",
        "properties": {**fields, **optional},
        "required": list(fields),
        "additionalProperties": False,
    }


def some(item):
    return {"type": "array", "items": item}


def every(value):
    return {"type": "object", "additionalProperties": value}


def part(kind, hatched=True, **fields):
    optional = {"is_hatched": {"const": True}} if hatched else {}
    return record({"kind": {"const": kind}, **fields}, **optional)


BLOCK = record(
    {"type": {"enum": ["u16", "i16"]}, "offset": NUMBER, "length": NUMBER}, step=NUMBER
)
FIELD = record(
    {
        "name": TEXT,
        "unit": TEXT,
        "n_component": {"enum": [1, 2, 3]},
        "shapes": BLOCK,
        "across": NUMBER,
        "range": POINT,
    }
)
PARTS = [
    part(
        "mesh",
        hatched=False,
        nodes=BLOCK,
        triangles=BLOCK,
        sides=BLOCK,
        rims=some(some({"type": "integer"})),
        sites=every({"type": "integer"}),
        coordinates=some(TEXT),
        fields={**some(FIELD), "minItems": 1},
        faces=some(
            record(
                {"nodes": some({"type": "integer"}), "normal": POINT, "reach": NUMBER}
            )
        ),
    ),
    part("polygon", points={**some(POINT), "minItems": 3}),
    part("circle", center=POINT, radius={"type": "number", "exclusiveMinimum": 0}),
    part("segment", start=POINT, end=POINT),
    part("line", point=POINT, angle=NUMBER),
    part("bar", hatched=False, start=POINT, end=POINT),
    part("dot", hatched=False, center=POINT),
]
SCHEMA = record(
    {
        "format": {"const": "nonsmooth-scene"},
        "version": {"const": 1},
        "generator": {"type": "string", "pattern": r"^nonsmooth \d"},
        "title": TEXT,
        "run": record(
            {
                "status": {"enum": ["finished", "stopped", "failed"]},
                "message": TEXT,
                "t_start": NUMBER,
                "t_end": NUMBER,
                "notes": some(TEXT),
                "options": every(SCALAR),
                "cost": every(NUMBER),
                "energy_residual": {"type": ["number", "null"]},
                "energy_exchanged": {"type": ["number", "null"]},
                "violation": NUMBER,
            }
        ),
        "parameters": some(
            record({"name": TEXT, "value": SCALAR, "unit": TEXT, "meaning": TEXT})
        ),
        "sampling": record(
            {"n": {"type": "integer", "minimum": 1}, "tolerance": NUMBER},
            precision=NUMBER,
        ),
        "arcs": some({"type": "integer"}),
        "columns": some(
            record(
                {
                    "name": TEXT,
                    "unit": TEXT,
                    "type": {"enum": ["f32", "f64", "i8", "constant"]},
                },
                hidden={"const": True},
                offset={"type": "integer"},
                length={"type": "integer"},
                origin=NUMBER,
                value={"type": ["number", "null"]},
            )
        ),
        "derived": some(
            record(
                {
                    "name": TEXT,
                    "unit": TEXT,
                    "body": TEXT,
                    "point": POINT,
                    "quantity": {"enum": ["x", "y", "vx", "vy", "ax", "ay"]},
                },
                hidden={"const": True},
            )
        ),
        "bodies": some(
            record(
                {
                    "name": TEXT,
                    "kind": {
                        "enum": ["ground", "support", "rigid", "flexible", "point"]
                    },
                    "colour": {
                        "type": ["string", "null"],
                        "pattern": "^#[0-9A-F]{6}$",
                    },
                    "is_fixed": {"type": "boolean"},
                    "parts": some({"oneOf": PARTS}),
                    "points": every(POINT),
                },
                frame={**some(NUMBER), "minItems": 3, "maxItems": 3},
            )
        ),
        "glyphs": some(
            record(
                {
                    "kind": TEXT,
                    "family": {"enum": ["joint", "drive", "force"]},
                    "name": TEXT,
                    "a": record(MARKER, node=NUMBER),
                    "b": record(MARKER, node=NUMBER),
                },
                axis=NUMBER,
                angle=NUMBER,
                travel=POINT,
                length=NUMBER,
                height=NUMBER,
                clearance=NUMBER,
                is_elastic={"const": True},
                has_block={"const": False},
                radius=NUMBER,
                has_spring={"type": "boolean"},
                has_damper={"type": "boolean"},
                mode=TEXT,
                pivot=record(MARKER, node=NUMBER),
                force={**some(TEXT), "minItems": 2, "maxItems": 2},
                torque=TEXT,
            )
        ),
        "spots": some(
            record(
                {
                    "name": TEXT,
                    "element": TEXT,
                    "family": {"enum": ["contact", "joint"]},
                    "can_stick": {"type": "boolean"},
                    **dict.fromkeys(
                        ("mode", "x", "y", "nx", "ny", "normal", "friction"), TEXT
                    ),
                },
                at=record({**MARKER, "radius": NUMBER}),
                on=record(MARKER, node=NUMBER),
            )
        ),
        "events": record({"columns": some(TEXT), "rows": some(some(SCALAR))}),
        "energy": record({"kinetic": TEXT, "potential": TEXT, "works": some(TEXT)}),
        "modes": every(TEXT),
        "gravity": POINT,
        "box": {**some(NUMBER), "minItems": 4, "maxItems": 4},
        "unit": {"type": "number", "exclusiveMinimum": 0},
    },
    enlarged=NUMBER,
    plots=some(some(TEXT)),
)


def check(document, result):
    """Check every field of a header, and that what it names is there."""
    header, n = document.header, document.n
    jsonschema.validate(header, SCHEMA)
    # JSON has no NaN.
    json.dumps(header, allow_nan=False)
    names = [column["name"] for column in header["columns"]]
    names += [item["name"] for item in header["derived"]]
    assert len(set(names)) == len(names)
    assert names[0] == "t"
    offset = 0
    for column in header["columns"]:
        is_constant = column["type"] == "constant"
        assert is_constant == ("offset" not in column) == ("value" in column)
        if not is_constant:
            assert column["offset"] == offset
            offset += column["length"]
    meshes = [p for b in header["bodies"] for p in b["parts"] if p["kind"] == "mesh"]
    blocks = [mesh[key] for mesh in meshes for key in ("nodes", "triangles", "sides")]
    blocks += [field["shapes"] for mesh in meshes for field in mesh["fields"]]
    for block in sorted(blocks, key=lambda block: block["offset"]):
        assert block["offset"] == offset
        offset += block["length"]
    assert offset == len(document.arrays)
    arcs = header["arcs"]
    assert arcs[0] == 0
    assert arcs[-1] == n
    assert all(a < b for a, b in pairwise(arcs))
    t = document.column("t")
    for a, b in pairwise(arcs):
        assert all(x < y for x, y in zip(t[a : b - 1], t[a + 1 : b], strict=True))
    bodies = {body["name"]: body for body in header["bodies"]}
    assert set(bodies) == {*result.system.bodies}
    for name, body in bodies.items():
        assert body["is_fixed"] == (name == "ground")
        motion = ("x", "y", "theta", "vx", "vy", "omega")
        assert body["is_fixed"] or all(f"{name}.{q}" in names for q in motion)
    used = [header["energy"]["kinetic"], header["energy"]["potential"]]
    used += header["energy"]["works"]
    used += [name for mesh in meshes for name in mesh["coordinates"]]
    markers = [item for item in header["derived"]]
    for glyph in header["glyphs"]:
        markers += [glyph["a"], glyph["b"]]
        markers += [glyph["pivot"]] if "pivot" in glyph else []
        used += [
            *glyph.get("force", []),
            *(glyph[c] for c in ("mode", "torque") if c in glyph),
        ]
    for spot in header["spots"]:
        used += [spot[c] for c in ("mode", "x", "y", "nx", "ny", "normal", "friction")]
        markers += [spot["at"]] if "at" in spot else []
    assert set(used) <= set(names)
    assert {marker["body"] for marker in markers} <= set(bodies)
    assert header["modes"] == MODES
    assert list(header["modes"]) == list(MODES)  # in the order of legends
    left, low, right, high = header["box"]
    assert left <= right
    assert low <= high
