/**
 * Runs made by hand, for tests.
 *
 * `makeRun({ t, columns, bodies, ... })` fills in what a test does not care about.
 * `block()` is a ready one: a block that slides to the right, sticks, and is lifted.
 */

import {
  FORMAT,
  VERSION,
  type Body,
  type Column,
  type Document,
  type Header,
  type Part,
  type Point,
} from "../src/format";
import { Run } from "../src/run";

export interface MadeColumn {
  values: number | readonly number[]; // one number: a constant
  unit?: string;
  hidden?: boolean;
  type?: "f32" | "i8";
}

export type Recipe = Partial<Omit<Header, "columns">> & {
  t?: readonly number[];
  columns?: Record<string, number | readonly number[] | MadeColumn>;
};

export const MODES = {
  stick: "#009E73",
  "slip+": "#D55E00",
  "slip-": "#F0A366",
  pressing: "#0072B2",
  released: "#F0E442",
  open: "#FFFFFF",
};

/** Build a document; columns that end in ".mode" are bytes, others floats. */
export function makeDocument(recipe: Recipe = {}): Document {
  const { t = [0, 1], columns = {}, ...rest } = recipe;
  const chunks: Uint8Array[] = [];
  let offset = 0;
  const store = (bytes: Uint8Array): { offset: number; length: number } => {
    const at = { offset, length: bytes.length };
    chunks.push(bytes);
    offset += bytes.length;
    return at;
  };
  const times = shuffle(new Uint8Array(Float64Array.from(t).buffer), 8);
  const list: Column[] = [{ name: "t", unit: "s", type: "f64", ...store(times) }];
  for (const [name, given] of Object.entries(columns)) {
    const made: MadeColumn =
      typeof given === "number" || Array.isArray(given)
        ? { values: given as number | readonly number[] }
        : (given as MadeColumn);
    const type = made.type ?? (name.endsWith(".mode") ? "i8" : "f32");
    const head = {
      name,
      unit: made.unit ?? "",
      ...(made.hidden ? { hidden: true as const } : {}),
    };
    if (typeof made.values === "number" && type === "f32") {
      list.push({ ...head, type: "constant", value: made.values });
      continue;
    }
    const values =
      typeof made.values === "number" ? t.map(() => Number(made.values)) : made.values;
    if (values.length !== t.length) throw new Error(`${name}: ${values.length} values`);
    const bytes =
      type === "i8" ? new Uint8Array(Int8Array.from(values).buffer) : floats(values);
    list.push({ ...head, type, ...store(bytes) });
  }
  const arrays = new Uint8Array(offset);
  let at = 0;
  for (const chunk of chunks) {
    arrays.set(chunk, at);
    at += chunk.length;
  }
  const header: Header = {
    format: FORMAT,
    version: VERSION,
    generator: "nonsmooth test",
    title: "made by hand",
    run: {
      status: "finished",
      message: "",
      t_start: t[0] ?? 0,
      t_end: t[t.length - 1] ?? 0,
      notes: [],
      options: {},
      cost: {},
      energy_residual: 0,
      energy_exchanged: 1,
      violation: 0,
    },
    parameters: [],
    sampling: { n: t.length, tolerance: 1e-3 },
    arcs: [0, t.length],
    derived: [],
    bodies: [GROUND],
    glyphs: [],
    spots: [],
    events: { columns: ["t", "element", "kind", "before", "after"], rows: [] },
    energy: { kinetic: "energy:kinetic", potential: "energy:potential", works: [] },
    modes: MODES,
    gravity: [0, -9.81],
    box: [-1, -1, 1, 1],
    unit: 0.05,
    ...rest,
    columns: list,
  };
  return { header, arrays };
}

export function makeRun(recipe: Recipe = {}): Run {
  return new Run(makeDocument(recipe));
}

/** Pack a document as Python does. */
export async function encode({ header, arrays }: Document): Promise<Uint8Array> {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(4 + text.length + arrays.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(arrays, 4 + text.length);
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// ---- bodies ----------------------------------------------------------------------

export const GROUND: Body = {
  name: "ground",
  kind: "ground",
  colour: null,
  is_fixed: true,
  parts: [],
  points: {},
};

export function makeBody(name: string, parts: Part[] = [], more: Partial<Body> = {}) {
  const body: Body = {
    name,
    kind: "rigid",
    colour: "#0072B2",
    is_fixed: false,
    parts,
    points: {},
    ...more,
  };
  return body;
}

/** Columns of a body that moves along with constant velocity over each arc. */
export function motion(
  name: string,
  x: number | readonly number[],
  y: number | readonly number[] = 0,
  theta: number | readonly number[] = 0,
  rates: Partial<Record<"vx" | "vy" | "omega", number | readonly number[]>> = {},
): Record<string, MadeColumn> {
  return {
    [`${name}.x`]: { values: x, unit: "m" },
    [`${name}.y`]: { values: y, unit: "m" },
    [`${name}.theta`]: { values: theta, unit: "rad" },
    [`${name}.vx`]: { values: rates.vx ?? 0, unit: "m/s" },
    [`${name}.vy`]: { values: rates.vy ?? 0, unit: "m/s" },
    [`${name}.omega`]: { values: rates.omega ?? 0, unit: "rad/s" },
  };
}

export function box(width: number, height: number): Part {
  const [w, h] = [0.5 * width, 0.5 * height];
  const points: Point[] = [
    [-w, -h],
    [w, -h],
    [w, h],
    [-w, h],
  ];
  return { kind: "polygon", points };
}

/**
 * A block on the ground: slips to the right for 1 s, sticks for 1 s, then is lifted.
 *
 * Its two events, at 1 and 2 s, have two samples each. The normal force is 10 N, then
 * 20 N, then none; friction is -3 N, then 2 N, then none.
 */
export function block(): Recipe {
  const x = [0, 0.5, 1, 1, 1, 1, 1];
  const y = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.6];
  return {
    title: "block",
    t: [0, 0.5, 1, 1, 2, 2, 3],
    arcs: [0, 3, 5, 7],
    bodies: [
      {
        ...GROUND,
        parts: [{ kind: "line", point: [0, 0], angle: 0, is_hatched: true }],
      },
      makeBody("block", [box(0.3, 0.2)], { points: { sole: [0, -0.1] } }),
    ],
    columns: {
      ...motion("block", x, y, 0, {
        vx: [1, 1, 1, 0, 0, 0, 0],
        vy: [0, 0, 0, 0, 0, 0.5, 0.5],
      }),
      "sole.mode": { values: [1, 1, 1, 0, 0, 2, 2], type: "i8" },
      "sole.x": { values: x, unit: "m", hidden: true },
      "sole.y": { values: y.map((v) => v - 0.1), unit: "m", hidden: true },
      "sole.nx": { values: 0, hidden: true },
      "sole.ny": { values: 1, hidden: true },
      "sole.normal_force": { values: [10, 10, 10, 20, 20, 0, 0], unit: "N" },
      "sole.friction_force": { values: [-3, -3, -3, 2, 2, 0, 0], unit: "N" },
      "sole.slip_velocity": { values: [1, 1, 1, 0, 0, 0, 0], unit: "m/s" },
      "energy:kinetic": {
        values: [1, 1, 1, 0, 0, 0.25, 0.25],
        unit: "J",
      },
      "energy:potential": { values: [0, 0, 0, 0, 0, 0, 9.81], unit: "J" },
      "work:sole": { values: [0, -1.5, -3, -3, -3, -3, -3], unit: "J" },
    },
    derived: [
      {
        name: "block.sole.x",
        unit: "m",
        body: "block",
        point: [0, -0.1],
        quantity: "x",
      },
      {
        name: "block.sole.y",
        unit: "m",
        body: "block",
        point: [0, -0.1],
        quantity: "y",
      },
    ],
    spots: [
      {
        name: "sole",
        element: "sole",
        family: "contact",
        can_stick: true,
        mode: "sole.mode",
        x: "sole.x",
        y: "sole.y",
        nx: "sole.nx",
        ny: "sole.ny",
        normal: "sole.normal_force",
        friction: "sole.friction_force",
      },
    ],
    events: {
      columns: ["t", "element", "kind", "before", "after"],
      rows: [
        [1, "sole", "stick", "slip+", "stick"],
        [2, "sole", "separate", "stick", "open"],
      ],
    },
    energy: {
      kinetic: "energy:kinetic",
      potential: "energy:potential",
      works: ["work:sole"],
    },
    box: [-0.2, 0, 1.2, 0.8],
    unit: 0.03,
  };
}

// ---- bytes -----------------------------------------------------------------------

/** The inverse of `unpack` for floats: differences of bit patterns, shuffled. */
function floats(values: readonly number[]): Uint8Array {
  const bits = new Int32Array(Float32Array.from(values).buffer);
  for (let i = bits.length - 1; i > 0; i--) bits[i] = (bits[i]! - bits[i - 1]!) | 0;
  return shuffle(new Uint8Array(bits.buffer), 4);
}

function shuffle(bytes: Uint8Array, width: number): Uint8Array {
  const n = bytes.length / width;
  const out = new Uint8Array(bytes.length);
  for (let k = 0; k < width; k++) {
    for (let i = 0; i < n; i++) out[k * n + i] = bytes[i * width + k]!;
  }
  return out;
}
