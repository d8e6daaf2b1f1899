/**
 * What bodies look like: one painter for each kind of part.
 *
 * A painter finds the pen in the body's frame (metres). To draw a new kind, register
 * it here or anywhere else:
 *
 *     registerPart<Cloud>("cloud", (pen, run, body, place, part) => { ... });
 */

import type { Body, Part } from "../format";
import type { Place, Run } from "../run";
import type { Pen } from "./pen";

export type PartPainter<P> = (
  pen: Pen,
  run: Run,
  body: Body,
  place: Place,
  part: P,
) => void;

const PAINTERS = new Map<string, PartPainter<never>>();

export function registerPart<P extends { kind: string }>(
  kind: P["kind"],
  painter: PartPainter<P>,
): void {
  PAINTERS.set(kind, painter);
}

/** Draw a part of a body; the pen is in the body's frame. Unknown kinds are left out. */
export function paintPart(
  pen: Pen,
  run: Run,
  body: Body,
  place: Place,
  part: Part,
): void {
  const painter = PAINTERS.get(part.kind) as PartPainter<Part> | undefined;
  painter?.(pen, run, body, place, part);
}

type Of<K extends Part["kind"]> = Extract<Part, { kind: K }>;

/** Colour the path as an area: hatched on ground and supports. */
function area(pen: Pen, body: Body, isHatched: boolean): void {
  const { pale, fill } = pen.theme.colours;
  if (isHatched) {
    pen.fill(pale, 0.1);
    // Clipping uses the path up, so that it is stroked first.
    pen.stroke(pale, 1.5);
    pen.hatchArea(pale);
  } else {
    const colour = pen.theme.body(body.colour);
    pen.fill(colour, fill);
    pen.stroke(colour, outline(pen));
  }
}

function outline(pen: Pen): number {
  return Math.min(Math.max(0.25 * pen.sizes.bar, 1), 2);
}

registerPart<Of<"polygon">>("polygon", (pen, _run, body, _place, part) => {
  pen.path(part.points, true);
  area(pen, body, part.is_hatched === true);
});

registerPart<Of<"circle">>("circle", (pen, _run, body, _place, part) => {
  const [p, q] = part.center;
  pen.disc(p, q, part.radius * pen.camera.view.scale);
  area(pen, body, part.is_hatched === true);
  if (part.is_hatched) return;
  // A radius shows it turn.
  pen.begin();
  pen.move(p, q);
  pen.line(p + part.radius, q);
  pen.stroke(pen.theme.body(body.colour), outline(pen));
});

registerPart<Of<"segment">>("segment", (pen, _run, body, _place, part) => {
  if (part.is_hatched) {
    pen.hatch(...part.start, ...part.end);
    return;
  }
  pen.begin();
  pen.move(...part.start);
  pen.line(...part.end);
  pen.stroke(pen.theme.body(body.colour), Math.max(1.5, 0.4 * pen.sizes.bar));
});

registerPart<Of<"line">>("line", (pen, _run, body, _place, part) => {
  const isHatched = part.is_hatched === true;
  const colour = isHatched ? pen.theme.colours.pale : pen.theme.body(body.colour);
  pen.endless(...part.point, part.angle, colour, isHatched);
});

registerPart<Of<"bar">>("bar", (pen, _run, body, _place, part) => {
  const colour = pen.theme.body(body.colour);
  pen.capsule(...part.start, ...part.end, 0.5 * pen.sizes.bar);
  pen.fill(pen.theme.tint(colour, body.colour === null ? 0.25 : 0.32));
  pen.stroke(colour, outline(pen));
});

registerPart<Of<"dot">>("dot", (pen, _run, body, _place, part) => {
  const colour = pen.theme.body(body.colour);
  pen.disc(...part.center, Math.max(0.8 * pen.sizes.u, 3));
  pen.fill(pen.theme.tint(colour, 0.6));
  pen.stroke(colour, outline(pen));
});
