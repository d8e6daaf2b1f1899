/**
 * The scene document: everything the viewer knows of a run.
 *
 * Written by `nonsmooth/views/scene.py`; the two files change together. A document is
 *
 *     gzip( header length (uint32, little-endian) | header (JSON, UTF-8) | arrays )
 *
 * Samples are taken arc by arc, so that an event has two samples of one time: the
 * values before it end an arc, those after it begin the next.
 */

export const FORMAT = "nonsmooth-scene";
export const VERSION = 1;

export type Point = readonly [number, number];
export type Scalar = string | number | boolean | null;

export interface Header {
  format: typeof FORMAT;
  version: typeof VERSION;
  generator: string; // "nonsmooth 0.1.0"
  title: string;
  run: RunInfo;
  parameters: Parameter[];
  sampling: Sampling;
  arcs: number[]; // first sample of each arc, then the number of samples
  columns: Column[]; // "t" first
  derived: Derived[];
  bodies: Body[]; // drawn in this order
  glyphs: Glyph[];
  spots: Spot[];
  events: Events;
  energy: Energy;
  modes: Record<string, string>; // colour by name, in the order of legends
  gravity: Point; // m/s^2
  plots?: string[][]; // quantities of the panels it opens on, if the model says so
  box: readonly [number, number, number, number]; // left, low, right, high: m, all seen
  unit: number; // m, size of a symbol such as a pin
  enlarged?: number; // factor of deformation that shows it; with meshes only
}

export interface RunInfo {
  status: "finished" | "stopped" | "failed";
  message: string;
  t_start: number; // s
  t_end: number;
  notes: string[];
  options: Record<string, Scalar>;
  cost: Record<string, number>;
  energy_residual: number | null; // J
  energy_exchanged: number | null;
  violation: number; // m or rad
}

export interface Parameter {
  name: string;
  value: Scalar;
  unit: string;
  meaning: string;
}

export interface Sampling {
  n: number; // samples
  tolerance: number; // of a quantity's range, that lines between samples keep to
  precision?: number; // of a quantity's range, to which numbers are rounded; 0 if not
}

/**
 * Numbers over time. `f64` is for times, and for what single precision would show in
 * steps. A place far away is `f32` from an origin nearby.
 */
export interface Column {
  name: string; // as in Python: "box.x", "left.normal_force"
  unit: string; // "" for none
  hidden?: true; // for drawing only, not offered to plots
  type: "f32" | "f64" | "i8" | "constant";
  offset?: number; // bytes into the arrays
  length?: number; // bytes
  origin?: number; // of f32: to be added to each number
  value?: number | null; // of a constant; null where nothing is known
}

/** A quantity of a body's point, computed from the motion of the body. */
export interface Derived {
  name: string; // "box.left.vx"
  unit: string;
  body: string;
  point: Point; // m, in the body's frame
  quantity: "x" | "y" | "vx" | "vy" | "ax" | "ay";
  hidden?: true; // a place of a spot, not offered to plots
}

export interface Body {
  name: string;
  kind: "ground" | "support" | "rigid" | "flexible" | "point";
  colour: string | null; // null: pale, as the ground
  is_fixed: boolean; // else columns NAME.x .y .theta .vx .vy .omega
  parts: Part[];
  points: Record<string, Point>; // m, in the body's frame, undeformed
  frame?: readonly [number, number, number]; // of a flexible body that is held
}

/** Numbers that do not change with time: whole ones, or multiples of a step. */
export interface Block {
  type: "u16" | "i16";
  offset: number; // bytes into the arrays
  length: number; // bytes
  step?: number; // of i16
}

/** A mesh that deforms: node + enlargement x sum of shape x coordinate. */
export interface Mesh {
  kind: "mesh";
  nodes: Block; // x and y of each, m, in the body's frame
  triangles: Block; // three nodes each
  sides: Block; // two nodes each
  rims: number[][]; // closed boundaries
  sites: Record<string, number>; // node of a point or patch
  coordinates: string[]; // columns
  fields: Field[]; // the first is the displacement
  faces?: Face[]; // of an elastic block
}

/** A line of nodes under the field "contact pressure", drawn as an area beyond it. */
export interface Face {
  nodes: number[]; // in order
  normal: Point; // outwards, in the body's frame
  reach: number; // m, of the largest pressure
}

/**
 * Something that nodes are coloured by. One component is the value, two are a vector,
 * three xx, yy and xy of a stress, of which von Mises' equivalent is shown.
 */
export interface Field {
  name: string;
  unit: string;
  n_component: number;
  shapes: Block; // by node, component, coordinate
  across: number; // stress zz beside xx + yy
  range: Point; // over the run
}

/**
 * What a body looks like, in its frame. A painter for each kind is registered in
 * `scene/parts.ts`.
 */
export type Part =
  | Mesh
  | { kind: "polygon"; points: Point[]; is_hatched?: true }
  | { kind: "circle"; center: Point; radius: number; is_hatched?: true }
  | { kind: "segment"; start: Point; end: Point; is_hatched?: true } // solid on the right
  | { kind: "line"; point: Point; angle: number; is_hatched?: true } // without ends
  | { kind: "bar"; start: Point; end: Point }
  | { kind: "dot"; center: Point };

export interface Marker {
  body: string;
  point: Point; // m, in the body's frame
  node?: number; // of the body's mesh, with which it moves
}

/**
 * A joint, drive or force. A painter for each kind is registered in
 * `scene/glyphs.ts`; of a kind it does not know, the family's is used.
 */
export interface Glyph {
  // joint pin slot guide rod weld | drive motor actuator hold (a constant one)
  // | force spring spiral couple pair
  kind: string;
  family: "joint" | "drive" | "force";
  name: string;
  a: Marker;
  b: Marker;
  axis?: number; // rad, of a slot, guide or actuator, from the x axis of a's body
  angle?: number; // rad, of a's axis in b's body: a block turns with b
  travel?: readonly [number, number]; // m along the axis, where b goes, seen from a
  length?: number; // m, of a block
  height?: number; // m, between its flanks
  clearance?: number; // m
  is_elastic?: true; // the clearance is enlarged as the block's deformation is
  has_block?: false; // a shape of b shows the block already
  radius?: number; // m, of a pin
  has_spring?: boolean;
  has_damper?: boolean;
  mode?: string; // column, of a joint with friction
  pivot?: Marker; // where a rotation is shown
  force?: readonly [string, string]; // columns, N, acting on b
  torque?: string; // column, N m, acting on b
}

/** A place where bodies press on each other. Names of columns, all hidden but forces. */
export interface Spot {
  name: string; // as in columns and events
  element: string; // contact or joint it belongs to
  family: "contact" | "joint";
  can_stick: boolean;
  mode: string; // 0 stick, 1 or -1 slip, 2 open, 3 released
  x: string; // m
  y: string;
  nx: string; // unit normal, out of a, along which the normal force pushes b
  ny: string;
  normal: string; // N
  friction: string; // N, along the normal turned by -90 degrees
  at?: Disc; // what touches: its place is better than x and y between samples
  on?: Marker; // of a flexible body: it is drawn as far off as the body's deformation is
}

/** A disc on a body; a point has radius 0. It touches at its centre less radius times n. */
export interface Disc {
  body: string;
  point: Point; // m, in the body's frame
  radius: number; // m
}

export interface Events {
  columns: string[]; // t, element, kind, action, before, after, cause, ...
  rows: Scalar[][];
}

/** Columns of energies, J. Names of elements have no colon. */
export interface Energy {
  kinetic: string; // "energy:kinetic"
  potential: string; // "energy:potential"
  works: string[]; // done by each element; "work:NAME"
}

// ---- decoding --------------------------------------------------------------------

export class FormatError extends Error {}

export interface Document {
  header: Header;
  arrays: Uint8Array;
}

/** Unpack a document. */
export async function decode(packed: Uint8Array): Promise<Document> {
  const bytes = await inflate(packed);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 4) throw new FormatError("the run's data are cut short");
  const size = view.getUint32(0, true);
  if (4 + size > bytes.length) throw new FormatError("the run's data are cut short");
  const header = parse(bytes.subarray(4, 4 + size));
  if (header.format !== FORMAT) throw new FormatError("this is not a nonsmooth run");
  if (header.version !== VERSION) {
    throw new FormatError(
      `the run has format version ${header.version}, this viewer reads ${VERSION}`,
    );
  }
  return { header, arrays: bytes.subarray(4 + size) };
}

function parse(bytes: Uint8Array): Header {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Header;
  } catch {
    throw new FormatError("this is not a nonsmooth run");
  }
}

async function inflate(packed: Uint8Array): Promise<Uint8Array> {
  const unpacker = new DecompressionStream("gzip");
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(unpacker);
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new FormatError("the run's data are damaged or cut short");
  }
}

export type Numbers = Float32Array | Float64Array | Int8Array;

/** Return the numbers of one column, n of them; in double precision if need be. */
export function unpack(column: Column, arrays: Uint8Array, n: number): Numbers {
  if (column.type === "constant") return new Float64Array(n).fill(column.value ?? NaN);
  const offset = column.offset ?? 0;
  const bytes = arrays.subarray(offset, offset + (column.length ?? 0));
  const width = { f32: 4, f64: 8, i8: 1 }[column.type];
  if (bytes.length !== n * width) {
    throw new FormatError(`column ${column.name} has ${bytes.length} bytes`);
  }
  if (column.type === "i8") return new Int8Array(unshuffle(bytes, 1));
  if (column.type === "f64") return new Float64Array(unshuffle(bytes, 8));
  // Differences of the bit patterns: a smooth curve leaves small numbers.
  const bits = new Int32Array(unshuffle(bytes, 4));
  for (let i = 1; i < n; i++) bits[i] = (bits[i]! + bits[i - 1]!) | 0;
  const numbers = new Float32Array(bits.buffer);
  const { origin } = column;
  return origin === undefined ? numbers : Float64Array.from(numbers, (x) => origin + x);
}

/** Return the numbers of a block. */
export function unblock({ type, offset, length, step }: Block, arrays: Uint8Array) {
  const bytes = arrays.subarray(offset, offset + length);
  if (bytes.length !== length) throw new FormatError("a mesh is cut short");
  const whole = unshuffle(bytes, 2);
  if (type === "u16") return Float32Array.from(new Uint16Array(whole));
  return Float32Array.from(new Int16Array(whole), (x) => x * (step ?? 1));
}

/** All first bytes of the numbers come first, then all second ones, and so on. */
function unshuffle(bytes: Uint8Array, width: number): ArrayBuffer {
  const n = bytes.length / width;
  const out = new Uint8Array(bytes.length);
  for (let k = 0; k < width; k++) {
    for (let i = 0; i < n; i++) out[i * width + k] = bytes[k * n + i]!;
  }
  return out.buffer;
}
