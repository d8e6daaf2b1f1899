/** Contacts and bearings: discs in the colour of their mode, arrows of their forces. */

import type { Numbers, Spot } from "../format";
import type { Place, Run } from "../run";
import type { Frame } from "./frame";
import type { Pen } from "./pen";

// The arrow of the largest force beside the smaller side of the canvas, and where more
// than a few act at once; arrows shorter than a part of it are left out.
export const LONGEST = 0.2;
export const LONGEST_OF_MANY = 0.07;
export const FEW_FORCES = 6;
export const SHORTEST = 0.01;
// Radius of the mark of an open contact beside that of others.
const OPEN = 0.6;
// Beyond this many spots arrows are thin.
const MANY = 40;

interface Load {
  largest: number; // N, of all normal and friction forces of the whole run
  longest: number; // its arrow, beside the smaller side of the canvas
}

/** Return the largest force in contacts and bearings of the whole run, N. */
export function largestForce(run: Run): number {
  return loadOf(run).largest;
}

function loadOf(run: Run): Load {
  let load = LOADS.get(run);
  if (!load) {
    let largest = 0;
    const n = run.header.sampling.n;
    const together = new Uint16Array(n); // forces that act at a sample
    for (const spot of run.header.spots) {
      if (!run.has(spot.normal) || !run.has(spot.friction)) continue;
      const normal = run.column(spot.normal);
      const friction = run.column(spot.friction);
      for (let i = 0; i < n; i++) {
        const size = Math.max(Math.abs(normal[i]!), Math.abs(friction[i]!));
        if (size > largest) largest = size;
        if (size > 0) together[i]!++;
      }
    }
    const most = together.reduce((a, b) => Math.max(a, b), 0);
    load = { largest, longest: most > FEW_FORCES ? LONGEST_OF_MANY : LONGEST };
    LOADS.set(run, load);
  }
  return load;
}

const LOADS = new WeakMap<Run, Load>();

/** The columns of a spot, looked up once. */
interface Columns {
  spot: Spot;
  isMarked: boolean; // pins and sliders show their mode themselves
  mode: Numbers;
  x: Numbers;
  y: Numbers;
  nx: Numbers;
  ny: Numbers;
  normal: Numbers;
  friction: Numbers;
}

export class Spots {
  private readonly all: Columns[];

  constructor(private readonly run: Run) {
    const shown = new Set(
      run.header.glyphs
        .filter(({ kind, mode }) => SHOW_MODE.has(kind) && mode !== undefined)
        .map((glyph) => glyph.name),
    );
    const zeros = new Float32Array(run.header.sampling.n);
    const column = (name: string): Numbers =>
      run.has(name) ? run.column(name) : zeros;
    this.all = run.header.spots.map((spot) => ({
      spot,
      isMarked: !(spot.family === "joint" && shown.has(spot.element)),
      mode: column(spot.mode),
      x: column(spot.x),
      y: column(spot.y),
      nx: column(spot.nx),
      ny: column(spot.ny),
      normal: column(spot.normal),
      friction: column(spot.friction),
    }));
  }

  get length(): number {
    return this.all.length;
  }

  /** Place of a spot at an instant, m. */
  point(k: number, frame: Frame): [number, number] {
    const c = this.all[k]!;
    const { place } = frame;
    const { at, on } = c.spot;
    // With the disc that touches, the mark stays on its body between samples.
    if (!at) {
      const [dx, dy] = on ? frame.beyond(on) : [0, 0];
      return [between(c.x, place) + dx, between(c.y, place) + dy];
    }
    const [x, y] = frame.point(at);
    return [x - at.radius * between(c.nx, place), y - at.radius * between(c.ny, place)];
  }

  /** Draw the marks: open ones first, so that they do not hide others. */
  marks(pen: Pen, frame: Frame): void {
    const { paper, ink, pale } = pen.theme.colours;
    const { mark } = pen.sizes;
    const { ctx, camera } = pen;
    const { place } = frame;
    for (const isOpenTurn of OPEN_FIRST) {
      for (let k = 0; k < this.all.length; k++) {
        const { spot, isMarked, mode: codes } = this.all[k]!;
        const isOpen = codes[place.i] === 2;
        if (!isMarked || isOpen !== isOpenTurn) continue;
        // A bearing without force is no place where anything touches.
        if (spot.family === "joint" && isOpen) continue;
        const [x, y] = camera.toScreen(...this.point(k, frame));
        if (!camera.isSeen(x, y, mark)) continue;
        ctx.beginPath();
        ctx.arc(x, y, isOpen ? OPEN * mark : mark, 0, TURN);
        if (isOpen) {
          pen.fill(paper);
          pen.stroke(pale, 1.2);
        } else {
          const mode = this.run.mode(spot.mode, spot.can_stick, place);
          pen.fill(this.run.header.modes[mode] ?? paper);
          pen.stroke(ink, 1.2);
        }
      }
    }
  }

  /** Draw normal and friction force as arrows from where they act. */
  forces(pen: Pen, frame: Frame): void {
    const load = loadOf(this.run);
    if (!(load.largest > 0)) return;
    const { place } = frame;
    const { width, height } = pen.camera;
    const longest = load.longest * Math.min(width, height);
    const { normal, friction } = pen.theme.colours;
    const scale = longest / load.largest;
    const stroke = this.all.length > MANY ? 1.5 : 2.2;
    for (let k = 0; k < this.all.length; k++) {
      const c = this.all[k]!;
      const fn = scale * between(c.normal, place);
      const ft = scale * between(c.friction, place);
      const isPressing = Math.abs(fn) >= SHORTEST * longest;
      const isRubbing = Math.abs(ft) >= SHORTEST * longest;
      if (!isPressing && !isRubbing) continue;
      const [x, y] = pen.camera.toScreen(...this.point(k, frame));
      if (!pen.camera.isSeen(x, y, longest)) continue;
      const [nx, ny] = [between(c.nx, place), between(c.ny, place)];
      // y counts downwards on the screen; the tangent is the normal turned by -90 deg.
      if (isRubbing) pen.arrow(x, y, x + ft * ny, y + ft * nx, friction, stroke);
      if (isPressing) pen.arrow(x, y, x + fn * nx, y - fn * ny, normal, stroke);
    }
  }
}

const SHOW_MODE = new Set(["pin", "slot"]);
const TURN = 2 * Math.PI;
const OPEN_FIRST = [true, false];

/** Return a column's value on the line between samples. */
function between(numbers: Numbers, { i, part }: Place): number {
  const from = numbers[i]!;
  return part === 0 ? from : from + part * (numbers[i + 1]! - from);
}
