/** A run as the viewer uses it: columns by name, values at any instant. */

import {
  decode,
  unblock,
  unpack,
  type Block,
  type Body,
  type Column,
  type Derived,
  type Document,
  type Header,
  type Numbers,
} from "./format";

export type Side = "before" | "after";

/** A time, and at an event the side it is seen from. */
export interface Instant {
  readonly t: number; // s
  readonly side: Side;
}

/** Where an instant lies: between samples i and i + 1 of one arc. */
export interface Place {
  readonly i: number;
  readonly part: number; // 0 to 1
  readonly t: number;
}

export interface Pose {
  x: number;
  y: number;
  theta: number;
}

// Codes of modes: 2 is open, 3 released.
const PRESSES = (mode: number): boolean => mode < 2;

const FIXED: Pose = { x: 0, y: 0, theta: 0 };

export class Run {
  readonly header: Header;
  readonly t: Float64Array;
  readonly bodies = new Map<string, Body>();
  private readonly arrays: Uint8Array;
  private readonly columns = new Map<string, Column>();
  private readonly derived = new Map<string, Derived>();
  private readonly cache = new Map<string, Numbers>();
  private readonly slips = new Map<string, string>(); // modes of slip velocities

  constructor(document: Document) {
    this.header = document.header;
    this.arrays = document.arrays;
    for (const column of this.header.columns) this.columns.set(column.name, column);
    for (const item of this.header.derived) this.derived.set(item.name, item);
    for (const body of this.header.bodies) this.bodies.set(body.name, body);
    for (const { element, family, mode } of this.header.spots) {
      const slip = `${element}.slip_velocity`;
      const isWhole = family === "contact" && mode === `${element}.mode`;
      if (isWhole && this.has(slip) && this.has(mode)) this.slips.set(slip, mode);
    }
    this.t = this.column("t") as Float64Array;
  }

  static async read(packed: Uint8Array): Promise<Run> {
    return new Run(await decode(packed));
  }

  get begin(): number {
    return this.header.run.t_start;
  }

  get end(): number {
    return this.header.run.t_end;
  }

  /** Names of all quantities that can be plotted. */
  get names(): string[] {
    const own = this.header.columns.filter((c) => !c.hidden && c.name !== "t");
    const points = this.header.derived.filter((d) => !d.hidden);
    return [...own, ...points].map((item) => item.name);
  }

  has(name: string): boolean {
    return this.columns.has(name) || this.derived.has(name);
  }

  unit(name: string): string {
    return this.columns.get(name)?.unit ?? this.derived.get(name)?.unit ?? "";
  }

  /** Whether a quantity holds still between events, as modes do. */
  isStepped(name: string): boolean {
    return this.columns.get(name)?.type === "i8";
  }

  /** Return a quantity at all samples. */
  column(name: string): Numbers {
    let numbers = this.cache.get(name);
    if (numbers === undefined) {
      numbers = this.load(name);
      this.cache.set(name, numbers);
    }
    return numbers;
  }

  /** Return numbers that do not change with time. */
  block(block: Block): Float32Array {
    return unblock(block, this.arrays);
  }

  private load(name: string): Numbers {
    const column = this.columns.get(name);
    if (column) {
      const numbers = unpack(column, this.arrays, this.header.sampling.n);
      const mode = this.slips.get(name);
      return mode === undefined ? numbers : this.pressed(numbers, mode);
    }
    const derived = this.derived.get(name);
    if (derived) return this.derive(derived);
    throw new Error(`no quantity '${name}' in this run`);
  }

  /** Only what presses slips: where a contact is open, there is no number. */
  private pressed(slip: Numbers, mode: string): Numbers {
    const modes = this.column(mode);
    return slip.map((value, i) => (PRESSES(modes[i]!) ? value : NaN)) as Numbers;
  }

  private derive({ body, point, quantity }: Derived): Numbers {
    const n = this.header.sampling.n;
    const [px, py] = point;
    const isX = quantity.endsWith("x");
    const own = this.column(`${body}.${quantity}`);
    const isPlace = quantity.length === 1;
    // A place keeps the precision of its body.
    const isDouble = isPlace && own instanceof Float64Array;
    const out = isDouble ? new Float64Array(n) : new Float32Array(n);
    const theta = this.column(`${body}.theta`);
    const order = isPlace ? 0 : quantity[0] === "v" ? 1 : 2;
    const omega = order > 0 ? this.column(`${body}.omega`) : theta;
    const alpha = order > 1 ? this.column(`${body}.alpha`) : theta;
    for (let i = 0; i < n; i++) {
      const c = Math.cos(theta[i]!);
      const s = Math.sin(theta[i]!);
      const rx = c * px - s * py;
      const ry = s * px + c * py;
      const w = omega[i]!;
      let change = isX ? rx : ry;
      if (order === 1) change = isX ? -w * ry : w * rx;
      if (order === 2) {
        change = isX ? -alpha[i]! * ry - w * w * rx : alpha[i]! * rx - w * w * ry;
      }
      out[i] = own[i]! + change;
    }
    return out;
  }

  /** Find the samples around an instant; times outside the run are its ends. */
  locate({ t, side }: Instant): Place {
    const times = this.t;
    const last = times.length - 1;
    const at = Math.min(t > times[0]! ? t : times[0]!, times[last]!);
    // The last sample at or before t; seen from before, the last one before t, ...
    let low = -1;
    let high = last + 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (side === "after" ? times[middle]! <= at : times[middle]! < at) low = middle;
      else high = middle;
    }
    // ... or the first at t, if there is one.
    if (side === "before" && times[high] === at) return { i: high, part: 0, t: at };
    if (low < 0 || low === last) return { i: Math.max(low, 0), part: 0, t: at };
    return { i: low, part: (at - times[low]!) / (times[high]! - times[low]!), t: at };
  }

  /** Return a quantity at a place, on the line between samples. */
  value(name: string, place: Place): number {
    const numbers = this.column(name);
    const from = numbers[place.i]!;
    if (place.part === 0 || this.isStepped(name)) return from;
    return from + place.part * (numbers[place.i + 1]! - from);
  }

  /** Return where a body is; between samples by cubics that keep its velocity. */
  pose(body: string, place: Place): Pose {
    const info = this.bodies.get(body);
    if (!info || info.is_fixed) return FIXED;
    if (info.frame) {
      const [x, y, theta] = info.frame;
      return { x, y, theta };
    }
    return {
      x: this.cubic(`${body}.x`, `${body}.vx`, place),
      y: this.cubic(`${body}.y`, `${body}.vy`, place),
      theta: this.cubic(`${body}.theta`, `${body}.omega`, place),
    };
  }

  private cubic(name: string, rate: string, { i, part: s }: Place): number {
    const q = this.column(name);
    if (s === 0) return q[i]!;
    const h = this.t[i + 1]! - this.t[i]!;
    const v = this.column(rate);
    const change = q[i + 1]! - q[i]!;
    const a = h * v[i]! - change;
    const b = change - h * v[i + 1]!;
    return q[i]! + s * change + s * (1 - s) * ((1 - s) * a + s * b);
  }

  /** Return the mode of something that can stick, slip or open, in words. */
  mode(column: string, canStick: boolean, place: Place): string {
    const code = this.value(column, place);
    // Of a run that failed at once nothing is known.
    if (Number.isNaN(code)) return "";
    if (code === 2) return "open";
    if (code === 3) return "released";
    if (!canStick) return "pressing";
    return code === 0 ? "stick" : code > 0 ? "slip+" : "slip-";
  }
}

/** Return the global place of a point of a body. */
export function toGlobal(
  pose: Pose,
  point: readonly [number, number],
): [number, number] {
  const c = Math.cos(pose.theta);
  const s = Math.sin(pose.theta);
  return [pose.x + c * point[0] - s * point[1], pose.y + s * point[0] + c * point[1]];
}
