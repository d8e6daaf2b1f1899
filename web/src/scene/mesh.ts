/** Flexible bodies: meshes that deform, as much as they do or enlarged, and colours. */

import type { Body, Mesh, Point } from "../format";
import type { Place, Run } from "../run";
import type { Pen } from "./pen";

// Colours of a field, dark to bright, between which they are mixed: viridis.
const MAP = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];
// Shades of a field.
const LEVELS = 32;
// Triangles are drawn a little wider, px, so that no paper shows between them.
const SEAM = 0.7;
// The field of what presses on faces.
const PRESSURE = "contact pressure";

/** Shades of a field, from its least value to its largest. */
export const SHADES: readonly string[] = Array.from({ length: LEVELS }, (_, k) => {
  const at = (k / (LEVELS - 1)) * (MAP.length - 1);
  const i = Math.min(Math.floor(at), MAP.length - 2);
  const channel = (text: string, c: number): number =>
    parseInt(text.slice(1 + 2 * c, 3 + 2 * c), 16);
  const mixed = [0, 1, 2].map((c) => {
    const [a, b] = [channel(MAP[i]!, c), channel(MAP[i + 1]!, c)];
    return Math.round(a + (at - i) * (b - a));
  });
  return `rgb(${mixed.join(",")})`;
});

/** A flexible body's mesh, with its numbers unpacked. */
export class Skin {
  /** Nodes in the body's frame at the last instant, x and y of each, m. */
  readonly moved: Float32Array;
  /** Displacement of nodes, as it is, m. */
  readonly shift: Float32Array;
  private readonly nodes: Float32Array;
  private readonly triangles: Float32Array;
  private readonly sides: Float32Array;
  private readonly shapes: Float32Array[];
  private readonly eta: Float32Array;
  private readonly values: Float32Array;
  private readonly screen: Float32Array; // px

  constructor(
    private readonly run: Run,
    readonly mesh: Mesh,
  ) {
    this.nodes = run.block(mesh.nodes);
    this.triangles = run.block(mesh.triangles);
    this.sides = run.block(mesh.sides);
    this.shapes = mesh.fields.map((field) => run.block(field.shapes));
    const n = this.nodes.length;
    this.moved = new Float32Array(n);
    this.shift = new Float32Array(n);
    this.values = new Float32Array(n / 2);
    this.screen = new Float32Array(n);
    this.eta = new Float32Array(mesh.coordinates.length);
  }

  /** Move the nodes to an instant. */
  set(place: Place, scale: number): void {
    const { eta, shift, moved, nodes } = this;
    this.mesh.coordinates.forEach((name, k) => (eta[k] = this.run.value(name, place)));
    const shapes = this.shapes[0]!;
    const n = eta.length;
    for (let i = 0; i < shift.length; i++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += shapes[i * n + k]! * eta[k]!;
      shift[i] = sum;
      moved[i] = nodes[i]! + scale * sum;
    }
  }

  /** Return the values of a field at the nodes. */
  private colours(f: number): Float32Array {
    const { eta, values } = this;
    const shapes = this.shapes[f]!;
    const { n_component: c, across } = this.mesh.fields[f]!;
    const n = eta.length;
    const part = (at: number): number => {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += shapes[at * n + k]! * eta[k]!;
      return sum;
    };
    for (let i = 0; i < values.length; i++) {
      const x = part(i * c);
      const y = c > 1 ? part(i * c + 1) : 0;
      if (c === 3) {
        const xy = part(i * c + 2);
        const z = across * (x + y);
        const square = 0.5 * ((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) + 3 * xy ** 2;
        values[i] = Math.sqrt(square);
      } else values[i] = c === 2 ? Math.sqrt(x * x + y * y) : x;
    }
    return values;
  }

  /** Draw the mesh; the pen is in the body's frame. */
  paint(pen: Pen, body: Body, field: string, range: readonly [number, number]): void {
    const { screen, moved } = this;
    for (let i = 0; i < screen.length; i += 2) {
      screen[i] = pen.px(moved[i]!, moved[i + 1]!);
      screen[i + 1] = pen.py(moved[i]!, moved[i + 1]!);
    }
    const { ctx } = pen;
    const colour = pen.theme.body(body.colour);
    const f = this.mesh.fields.findIndex(({ name }) => name === field);
    const isColoured = f >= 0 && !pen.isGhost;
    if (isColoured) this.shade(pen, f, range);
    ctx.beginPath();
    for (const rim of this.mesh.rims) this.polygon(ctx, rim, 0, rim.length);
    if (!isColoured) pen.fill(colour, pen.theme.colours.fill, "evenodd");
    pen.stroke(colour, isColoured ? 0.8 : 1.3);
    if (!pen.isGhost) this.pressure(pen);
    if (isColoured || pen.isGhost) return;
    ctx.beginPath();
    const { sides } = this;
    for (let k = 0; k < sides.length; k += 2) {
      const [a, b] = [2 * sides[k]!, 2 * sides[k + 1]!];
      ctx.moveTo(screen[a]!, screen[a + 1]!);
      ctx.lineTo(screen[b]!, screen[b + 1]!);
    }
    pen.stroke(colour, 0.5, 0.45);
  }

  /** Draw the pressure on faces as areas beyond them. */
  private pressure(pen: Pen): void {
    const { faces, fields } = this.mesh;
    const f = fields.findIndex(({ name }) => name === PRESSURE);
    const largest = fields[f]?.range[1] ?? 0;
    if (!faces || !(largest > 0)) return;
    const values = this.colours(f);
    const { moved } = this;
    for (const { nodes, normal, reach } of faces) {
      const base = nodes.map((i): Point => [moved[2 * i]!, moved[2 * i + 1]!]);
      const tops = nodes.map((i, k): Point => {
        const size = (reach * Math.max(values[i]!, 0)) / largest;
        const [x, y] = base[k]!;
        return [x + size * normal[0], y + size * normal[1]];
      });
      pen.path([...base, ...tops.reverse()], true);
      pen.fill(pen.theme.colours.normal, 0.35);
      pen.stroke(pen.theme.colours.normal, 1);
    }
  }

  /** Add a closed line through some of a list of nodes to the path. */
  private polygon(
    ctx: CanvasRenderingContext2D,
    nodes: ArrayLike<number>,
    begin: number,
    end: number,
  ): void {
    const { screen } = this;
    for (let k = begin; k < end; k++) {
      const i = 2 * nodes[k]!;
      if (k === begin) ctx.moveTo(screen[i]!, screen[i + 1]!);
      else ctx.lineTo(screen[i]!, screen[i + 1]!);
    }
    ctx.closePath();
  }

  /** Colour the triangles: one path for each shade. */
  private shade(pen: Pen, f: number, [low, high]: readonly [number, number]): void {
    const { triangles } = this;
    const values = this.colours(f);
    const scale = high > low ? LEVELS / (3 * (high - low)) : 0;
    const levels: number[][] = Array.from({ length: LEVELS }, () => []);
    for (let k = 0; k < triangles.length; k += 3) {
      const sum =
        values[triangles[k]!]! +
        values[triangles[k + 1]!]! +
        values[triangles[k + 2]!]!;
      const level = Math.floor((sum - 3 * low) * scale);
      levels[Math.min(Math.max(level, 0), LEVELS - 1)]!.push(k);
    }
    levels.forEach((members, level) => {
      if (members.length === 0) return;
      pen.ctx.beginPath();
      for (const k of members) this.polygon(pen.ctx, triangles, k, k + 3);
      pen.fill(SHADES[level]!);
      pen.stroke(SHADES[level]!, SEAM);
    });
  }
}

/** Return the meshes of a run by body. */
export function skinsOf(run: Run): Map<string, Skin> {
  const skins = new Map<string, Skin>();
  for (const body of run.header.bodies) {
    const mesh = body.parts.find((part) => part.kind === "mesh");
    if (mesh) skins.set(body.name, new Skin(run, mesh));
  }
  return skins;
}

/** What meshes can be coloured by: name, unit, and the range over all bodies. */
export interface Colouring {
  name: string;
  unit: string;
  range: [number, number];
}

export function fieldsOf(run: Run): Colouring[] {
  const found = new Map<string, Colouring>();
  for (const { parts } of run.header.bodies) {
    for (const part of parts) {
      if (part.kind !== "mesh") continue;
      for (const { name, unit, range } of part.fields) {
        const known = found.get(name);
        const [low, high] = known?.range ?? [Infinity, -Infinity];
        const both: [number, number] = [
          Math.min(low, range[0]),
          Math.max(high, range[1]),
        ];
        found.set(name, { name, unit, range: both });
      }
    }
  }
  return [...found.values()];
}
