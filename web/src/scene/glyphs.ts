/**
 * Symbols of joints, drives and forces: one painter for each kind, or its family's.
 *
 * A painter may draw below the bodies, above them, and on top of everything. To draw a
 * new kind, register it here or anywhere else:
 *
 *     registerGlyph("gear", { above: (pen, frame, glyph) => { ... } });
 */

import type { Glyph, Marker } from "../format";
import { toGlobal } from "../run";
import type { Frame } from "./frame";
import type { Pen } from "./pen";

export type Level = "below" | "above" | "top";
export type GlyphPainter = Partial<
  Record<Level, (pen: Pen, frame: Frame, glyph: Glyph) => void>
>;

const PAINTERS = new Map<string, GlyphPainter>();

export function registerGlyph(kind: string, painter: GlyphPainter): void {
  PAINTERS.set(kind, painter);
}

/** Return the painter of a kind, of its family, or none. */
export function glyphPainter(glyph: Glyph): GlyphPainter {
  return PAINTERS.get(glyph.kind) ?? PAINTERS.get(`any ${glyph.family}`) ?? {};
}

// Sizes in units of symbols, as in `views/drawing.py`: a pin; half length and height of
// a block without a size of its own; the same of a slider in a slot; half the width of
// a bare slot; by how much a guide is longer than the way of what slides in it.
const PIN = 0.42;
const BLOCK = [1.6, 1.0] as const;
const SLIDER = [1.6, 0.75] as const;
const SLOT = 0.5;
const BEYOND = 1.4;
// The least radius of a pin, px: smaller ones are dots.
const LEAST_PIN = 1.2;
// Radius of arrows round a joint in units, and the least, px.
const TURN = 2.0;
const LEAST_TURN = 13;
// The longest arrow of a load in units, and the least, px.
const LOAD = 4.5;
const LEAST_LOAD = 44;
// Loads below this part of their peak are not drawn.
const LEAST_PART = 0.01;
// Coils of a spring: a unit of its first length holds this many, within a range.
const COILS_PER_UNIT = 0.4;
const COILS_RANGE = [5, 14] as const;

// ---- parts that several symbols use ------------------------------------------------

/** Draw a pin, on a stand where one of its sides is fixed or a support. */
function pin(pen: Pen, frame: Frame, marker: Marker, fill: string, radius = 0): void {
  const [x, y] = frame.point(marker);
  pen.place(x, y, 0);
  const size = Math.max(PIN * pen.sizes.u, LEAST_PIN, radius * pen.camera.view.scale);
  pen.disc(0, 0, size);
  pen.fill(fill);
  pen.stroke(pen.theme.colours.ink, pinWidth(pen));
}

function pinWidth(pen: Pen): number {
  return Math.min(Math.max(0.2 * pen.sizes.u, 0.7), 1.8);
}

/** Draw the stand of a fixed pin: a triangle on the ground, or on a support. */
function stand(pen: Pen, frame: Frame, marker: Marker, isMoving: boolean): void {
  const [x, y] = frame.point(marker);
  const { pale } = pen.theme.colours;
  pen.place(x, y, frame.down + 0.5 * Math.PI, pen.sizes.stand);
  pen.path(STAND, true);
  pen.fill(pen.theme.tint(pale, 0.22));
  pen.stroke(pale, 1.3);
  if (isMoving) {
    pen.path(STAND_BASE);
    pen.stroke(pale, 3);
  } else {
    pen.hatch(-1.5, -1.6, 1.5, -1.6);
  }
}

const STAND = [
  [0, 0],
  [-0.95, -1.6],
  [0.95, -1.6],
] as const;
const STAND_BASE = [
  [-1.5, -1.6],
  [1.5, -1.6],
] as const;

function stands(pen: Pen, frame: Frame, glyph: Glyph): void {
  if (pen.isGhost) return;
  for (const side of [glyph.a, glyph.b]) {
    if (frame.isGround(side)) stand(pen, frame, glyph.b, false);
    else if (frame.isSupport(side)) stand(pen, frame, glyph.b, true);
  }
}

/** Return the colour of a joint's mode, or paper. */
function modeColour(pen: Pen, frame: Frame, glyph: Glyph): string {
  const { paper } = pen.theme.colours;
  if (glyph.mode === undefined || !frame.run.has(glyph.mode)) return paper;
  const mode = frame.run.mode(glyph.mode, true, frame.place);
  return mode === "open" ? paper : (frame.run.header.modes[mode] ?? paper);
}

/** Direction of a slot or guide, rad. */
function axisOf(frame: Frame, glyph: Glyph): number {
  return frame.pose(glyph.a.body).theta + (glyph.axis ?? 0);
}

/** Draw the flanks of a slot or guide in a; half width and pad in m. */
function flanks(
  pen: Pen,
  frame: Frame,
  glyph: Glyph,
  half: number,
  pad: number,
  isSlot: boolean,
): void {
  const [low, high] = glyph.travel ?? [0, 0];
  const [from, to] = [low - pad, high + pad];
  const [x, y] = frame.point(glyph.a);
  pen.place(x, y, axisOf(frame, glyph));
  if (frame.isGround(glyph.a) || frame.isSupport(glyph.a)) {
    if (pen.isGhost) return;
    // The ground lies outside the slot, or under the guide.
    pen.hatch(from, -half, to, -half);
    if (isSlot) pen.hatch(to, half, from, half);
    return;
  }
  const colour = pen.theme.body(frame.body(glyph.a)?.colour ?? null);
  pen.begin();
  for (const side of [-half, half]) {
    pen.move(from, side);
    pen.line(to, side);
  }
  pen.stroke(colour, 1.3);
}

/** Draw the wall that holds the end of a spring; the angle leads away from it. */
function wall(pen: Pen, frame: Frame, marker: Marker, angle: number): void {
  if (!frame.isGround(marker) || pen.isGhost) return;
  const [x, y] = frame.point(marker);
  pen.place(x, y, angle - 0.5 * Math.PI, pen.sizes.stand);
  pen.hatch(-1.2, 0, 1.2, 0);
}

/** Draw an arrow onto b, as long as the force is beside its peak. */
function load(pen: Pen, frame: Frame, glyph: Glyph): void {
  if (!glyph.force) return;
  const [fx, fy] = [frame.value(glyph.force[0]), frame.value(glyph.force[1])];
  const size = Math.hypot(fx, fy);
  const part = size / frame.peak(...glyph.force);
  if (!(part > LEAST_PART)) return;
  const [x, y] = frame.point(glyph.b);
  const [hx, hy] = pen.camera.toScreen(x, y);
  const length = part * Math.max(LOAD * pen.sizes.u, LEAST_LOAD);
  const [dx, dy] = [fx / size, -fy / size];
  pen.arrow(hx - length * dx, hy - length * dy, hx, hy, pen.theme.colours.load);
}

/** Draw an arrow round where a and b turn on each other. */
function turn(
  pen: Pen,
  frame: Frame,
  glyph: Glyph,
  sweep: number,
  colour: string,
): void {
  const [x, y] = frame.point(glyph.pivot ?? glyph.b);
  pen.place(x, y, 0);
  pen.turnArrow(0, 0, Math.max(TURN * pen.sizes.u, LEAST_TURN), sweep, colour);
}

// ---- joints ------------------------------------------------------------------------

const anyPin: GlyphPainter = {
  below: stands,
  above: (pen, frame, glyph) =>
    pin(pen, frame, glyph.b, modeColour(pen, frame, glyph), glyph.radius),
};

registerGlyph("any joint", anyPin);
registerGlyph("pin", anyPin);

registerGlyph("guide", {
  below: (pen, frame, glyph) => {
    const [half, high] = blockSize(pen, glyph);
    const enlarged = glyph.is_elastic ? frame.scale : 1;
    const gap = 0.5 * enlarged * (glyph.clearance ?? 0);
    const pad = half + (BEYOND * pen.sizes.u) / pen.camera.view.scale;
    flanks(pen, frame, glyph, high + gap, pad, glyph.length !== undefined);
  },
  above: (pen, frame, glyph) => {
    // A shape of b's body may show the block already.
    if (glyph.has_block === false) return;
    const [half, high] = blockSize(pen, glyph);
    const body = frame.body(glyph.b);
    const [x, y] = frame.point(glyph.b);
    const angle =
      glyph.angle === undefined
        ? axisOf(frame, glyph)
        : frame.pose(glyph.b.body).theta + glyph.angle;
    const colour = pen.theme.body(body?.colour ?? null);
    pen.place(x, y, angle);
    pen.path(rectangle(half, high), true);
    pen.fill(colour, 1.2 * pen.theme.colours.fill);
    pen.stroke(colour, 1.6);
  },
});

/** Corners of a block, from half of its length and height. */
function rectangle(half: number, high: number): [number, number][] {
  return [
    [-half, -high],
    [half, -high],
    [half, high],
    [-half, high],
  ];
}

/** Half of length and height of a block, as large as can be seen, m. */
function blockSize(pen: Pen, glyph: Glyph): [number, number] {
  const { scale } = pen.camera.view;
  const [length, height] = [
    (BLOCK[0] * pen.sizes.u) / scale,
    (BLOCK[1] * pen.sizes.u) / scale,
  ];
  if (glyph.length === undefined) return [length, height];
  // Corners with clearance have marks, so that they must be where they are.
  const least = glyph.clearance === undefined ? 0.5 * height : 0;
  return [0.5 * glyph.length, Math.max(0.5 * (glyph.height ?? 0), least)];
}

registerGlyph("slot", {
  below: (pen, frame, glyph) => {
    const { scale } = pen.camera.view;
    const half = glyph.mode === undefined ? SLOT : SLIDER[1];
    const pad = ((SLIDER[0] + BEYOND) * pen.sizes.u) / scale;
    flanks(pen, frame, glyph, (half * pen.sizes.u) / scale, pad, true);
  },
  above: (pen, frame, glyph) => {
    if (glyph.mode !== undefined) {
      // With friction the pin carries a slider.
      const [x, y] = frame.point(glyph.b);
      const [half, high] = SLIDER;
      const colour = pen.theme.body(frame.body(glyph.b)?.colour ?? null);
      pen.place(x, y, axisOf(frame, glyph), pen.sizes.u);
      pen.path(rectangle(half, high), true);
      pen.fill(pen.theme.tint(colour, 0.35));
      pen.stroke(colour, 1.4);
    }
    pin(pen, frame, glyph.b, modeColour(pen, frame, glyph));
  },
});

registerGlyph("weld", {
  below: (pen, frame, glyph) => {
    if (pen.isGhost || !(frame.isGround(glyph.a) || frame.isGround(glyph.b))) return;
    const [x, y] = frame.point(glyph.b);
    pen.place(x, y, frame.down + 0.5 * Math.PI, pen.sizes.stand);
    pen.hatch(-1.3, -0.5, 1.3, -0.5);
  },
  above: (pen, frame, glyph) => {
    const [x, y] = frame.point(glyph.b);
    pen.place(x, y, frame.pose(glyph.b.body).theta, pen.sizes.u);
    pen.path(SQUARE, true);
    pen.fill(pen.theme.colours.ink);
    pen.stroke(pen.theme.colours.ink, 1);
  },
});

const SQUARE = [
  [-0.5, -0.5],
  [0.5, -0.5],
  [0.5, 0.5],
  [-0.5, 0.5],
] as const;

registerGlyph("rod", {
  below: (pen, frame, glyph) => {
    if (pen.isGhost) return;
    for (const side of [glyph.a, glyph.b]) {
      if (frame.isGround(side)) stand(pen, frame, side, false);
      else if (frame.isSupport(side)) stand(pen, frame, side, true);
    }
  },
  above: (pen, frame, glyph) => {
    const [x, y] = frame.point(glyph.a);
    const [x1, y1] = frame.point(glyph.b);
    const { paper, ink } = pen.theme.colours;
    pen.place(x, y, 0);
    pen.begin();
    pen.move(0, 0);
    pen.line(x1 - x, y1 - y);
    pen.stroke(ink, 2);
    pin(pen, frame, glyph.a, paper);
    pin(pen, frame, glyph.b, paper);
  },
});

// ---- drives: what the engine prescribes --------------------------------------------

registerGlyph("any drive", {
  top: (pen, frame, glyph) => {
    const [x, y] = frame.point(glyph.b);
    pen.place(x, y, 0);
    pen.disc(0, 0, Math.max(1.1 * pen.sizes.u, 6));
    pen.stroke(pen.theme.colours.drive, 2);
  },
});

registerGlyph("motor", {
  // In the positive sense.
  top: (pen, frame, glyph) =>
    turn(pen, frame, glyph, 1.1 * Math.PI, pen.theme.colours.drive),
});

// What stands still is not seen to be driven.
registerGlyph("hold", {});

registerGlyph("actuator", {
  top: (pen, frame, glyph) => {
    const [x, y] = frame.point(glyph.b);
    const size = Math.max(pen.sizes.u, 8);
    pen.place(x, y, axisOf(frame, glyph), size);
    const [x0, y0] = [pen.px(1.9, 0), pen.py(1.9, 0)];
    pen.arrow(x0, y0, pen.px(5, 0), pen.py(5, 0), pen.theme.colours.drive);
  },
});

// ---- forces ------------------------------------------------------------------------

/** Draw a dashed line from a to b. */
const pair: GlyphPainter = {
  above: (pen, frame, glyph) => {
    const [x, y] = frame.point(glyph.a);
    const [x1, y1] = frame.point(glyph.b);
    pen.place(x, y, 0);
    pen.begin();
    pen.move(0, 0);
    pen.line(x1 - x, y1 - y);
    pen.stroke(pen.theme.colours.load, 1.5, 1, DASHES);
  },
};

const DASHES = [5, 4];

registerGlyph("pair", pair);
registerGlyph("force", { top: load });
registerGlyph("any force", {
  above: (pen, frame, glyph) => {
    if (!frame.isGround(glyph.a)) pair.above?.(pen, frame, glyph);
  },
  top: (pen, frame, glyph) => {
    if (frame.isGround(glyph.a)) load(pen, frame, glyph);
  },
});

registerGlyph("couple", {
  top: (pen, frame, glyph) => {
    if (glyph.torque === undefined) return;
    const part = frame.value(glyph.torque) / frame.peak(glyph.torque);
    if (!(Math.abs(part) > LEAST_PART)) return;
    // The arc is as long as the torque is large, but a short one still has a head.
    const sweep = Math.sign(part) * (0.25 + 0.95 * Math.abs(part)) * Math.PI;
    turn(pen, frame, glyph, sweep, pen.theme.colours.load);
  },
});

registerGlyph("spring", {
  above: (pen, frame, glyph) => {
    const [x, y] = frame.point(glyph.a);
    const [x1, y1] = frame.point(glyph.b);
    const { u } = pen.sizes;
    const length = (Math.hypot(x1 - x, y1 - y) * pen.camera.view.scale) / u;
    if (!(length > 0)) return;
    const angle = Math.atan2(y1 - y, x1 - x);
    const colour = pen.theme.colours.spring;
    wall(pen, frame, glyph.a, angle);
    wall(pen, frame, glyph.b, angle + Math.PI);
    const hasSpring = glyph.has_spring === true || glyph.has_damper !== true;
    const hasDamper = glyph.has_damper === true;
    const aside = hasSpring && hasDamper ? 0.75 : 0;
    // Straight ends, as long as there is room for them.
    const lead = Math.min(1.2, 0.15 * length);
    pen.place(x, y, angle, u);
    pen.begin();
    if (hasSpring) zigzag(pen, length, lead, aside, coils(frame, glyph));
    if (hasDamper) dashpot(pen, length, lead, -aside);
    pen.stroke(colour, 1.6);
    // Ends on bodies are shown by dots.
    for (const [marker, p] of [[glyph.a, 0] as const, [glyph.b, length] as const]) {
      if (frame.isGround(marker)) continue;
      pen.disc(p, 0, Math.max(0.2 * u, 1.5));
      pen.fill(colour);
    }
  },
});

/** Number of a spring's coils: the same at all times, more for a long one. */
function coils(frame: Frame, glyph: Glyph): number {
  let n = COILS.get(glyph);
  if (n === undefined) {
    const start = { i: 0, part: 0, t: 0 };
    const [x, y] = toGlobal(frame.run.pose(glyph.a.body, start), glyph.a.point);
    const [x1, y1] = toGlobal(frame.run.pose(glyph.b.body, start), glyph.b.point);
    const length = Math.hypot(x1 - x, y1 - y) / frame.run.header.unit;
    const [least, most] = COILS_RANGE;
    n = Math.min(Math.max(Math.round(COILS_PER_UNIT * length) || least, least), most);
    COILS.set(glyph, n);
  }
  return n;
}

const COILS = new WeakMap<Glyph, number>();

/** Add a spring from 0 to length to the path. */
function zigzag(
  pen: Pen,
  length: number,
  lead: number,
  aside: number,
  nCoil: number,
): void {
  pen.move(0, 0);
  pen.line(lead, 0);
  pen.line(lead, aside);
  const [from, to] = [2 * lead, length - 2 * lead];
  const n = 2 * nCoil;
  pen.line(from, aside);
  for (let k = 0; k < n; k++) {
    const side = k % 2 === 0 ? 0.6 : -0.6;
    pen.line(from + ((to - from) * (k + 0.5)) / n, aside + side);
  }
  pen.line(to, aside);
  pen.line(length - lead, aside);
  pen.line(length - lead, 0);
  pen.line(length, 0);
}

/** Add a dashpot from 0 to length to the path: a rod with a piston in a cup. */
function dashpot(pen: Pen, length: number, lead: number, aside: number): void {
  const half = Math.min(1.1, 0.2 * length);
  const [back, open, piston] = [
    0.5 * length - half,
    0.5 * length + half,
    0.5 * length + 0.2 * half,
  ];
  pen.move(0, 0);
  pen.line(lead, 0);
  pen.line(lead, aside);
  pen.line(back, aside);
  pen.move(open, aside + 0.55);
  pen.line(back, aside + 0.55);
  pen.line(back, aside - 0.55);
  pen.line(open, aside - 0.55);
  pen.move(piston, aside + 0.4);
  pen.line(piston, aside - 0.4);
  pen.move(piston, aside);
  pen.line(length - lead, aside);
  pen.line(length - lead, 0);
  pen.line(length, 0);
}

registerGlyph("spiral", {
  above: (pen, frame, glyph) => {
    const [x, y] = frame.point(glyph.pivot ?? glyph.b);
    pen.place(x, y, frame.pose(glyph.b.body).theta, Math.max(pen.sizes.u, 5));
    // Its turns follow the angle between a and b, as those of a watch's spring do.
    const twist = frame.pose(glyph.b.body).theta - frame.pose(glyph.a.body).theta;
    const total = Math.max(4.5 * Math.PI - twist, Math.PI);
    const n = 72;
    pen.begin();
    for (let k = 0; k <= n; k++) {
      const angle = (total * k) / n;
      const radius = 0.5 + (1.3 * k) / n;
      const [p, q] = [radius * Math.cos(angle), radius * Math.sin(angle)];
      if (k === 0) pen.move(p, q);
      else pen.line(p, q);
    }
    pen.stroke(pen.theme.colours.spring, 1.4);
  },
});
