/**
 * The moving picture of a run. It draws when asked, and only then.
 *
 * From below: grid, trails, flanks and stands, bodies, joints and springs, marks of
 * contacts, drives and loads, forces in contacts, names.
 */

import type { Body, Glyph, Marker } from "../format";
import type { Instant, Run } from "../run";
import { Camera, listen, type Box, type View } from "./camera";
import { Frame } from "./frame";
import { glyphPainter, type GlyphPainter, type Level } from "./glyphs";
import { Labels } from "./labels";
import { fieldsOf, type Colouring } from "./mesh";
import { paintPart } from "./parts";
import { Pen, type Sizes } from "./pen";
import { Spots } from "./spots";
import { Theme, type ThemeName } from "./theme";
import { defaultTrails, Trails } from "./trails";

export interface SceneOptions {
  forces: boolean;
  trails: boolean;
  centres: boolean;
  markers: boolean;
  names: boolean;
  contacts: boolean;
}

export const DEFAULT_OPTIONS: Readonly<SceneOptions> = {
  forces: true,
  trails: false,
  centres: false,
  markers: false,
  names: false,
  contacts: true,
};

// Range of a symbol's unit and of a bar's width, px; a bar's width beside the unit.
const UNIT_RANGE = [2.5, 13] as const;
const BAR_RANGE = [2.5, 12] as const;
const BAR_PART = 0.9;
// Stands and marks of this many are drawn large enough to be seen beside small bodies.
const FEW_STANDS = 8;
const LEAST_STAND = 8;
const FEW_MARKS = 40;
// Radii of marks, px: the least of few, the least of many, and beside the unit.
const MARK = [4.5, 2.5, 0.5] as const;
// Least distance of the grid's lines, px.
const GRID = 70;
// The order of symbols above bodies: pins hide the ends of springs.
const FAMILIES = ["force", "joint", "drive"];

/** A run with all that is looked up once. */
interface Stage {
  run: Run;
  frame: Frame;
  glyphs: { glyph: Glyph; painter: GlyphPainter }[];
  spots: Spots;
  trails: Trails;
}

export class Scene {
  options: SceneOptions = { ...DEFAULT_OPTIONS };
  trails: string[];
  /** By how much deformation is enlarged, and what colours meshes; "" for nothing. */
  deformation: number;
  field = "";
  /** Colours of the runs; those but the first are drawn as outlines in theirs. */
  ghosts: readonly string[] = [];
  onView: (() => void) | null = null;
  /** Whether the wheel zooms by itself; if not, only with the control key. */
  wheelZooms = true;
  private readonly camera = new Camera();
  private readonly pen: Pen;
  private readonly labels = new Labels();
  private readonly stages: Stage[];
  readonly fields: readonly Colouring[];
  private readonly box: Box;
  private readonly isCrowded: boolean;
  private readonly deafen: () => void;
  private instant: Instant;
  isFitted = true; // and stays so when the canvas changes its size
  private ratio = 1;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    runs: readonly Run[],
  ) {
    const ctx = canvas.getContext("2d");
    if (!ctx) throw new Error("this browser cannot draw on a canvas");
    const first = runs[0];
    if (!first) throw new Error("a scene needs a run");
    this.pen = new Pen(ctx, this.camera, new Theme("light"));
    this.stages = runs.map(stage);
    this.box = union(runs.map((run) => run.header.box));
    this.trails = defaultTrails(first);
    this.deformation = first.header.enlarged ?? 1;
    this.fields = fieldsOf(first);
    this.instant = { t: first.begin, side: "after" };
    const fixed = first.header.glyphs.filter(
      ({ a, b, family }) =>
        family === "joint" &&
        (first.bodies.get(a.body)?.kind === "ground" ||
          first.bodies.get(b.body)?.kind === "ground"),
    );
    this.isCrowded = fixed.length > FEW_STANDS;
    this.deafen = listen(canvas, {
      pan: (dx, dy) => this.pan(dx, dy),
      zoom: (factor, px, py) => this.zoom(factor, px, py),
      fit: () => this.fit(),
      takesWheel: (event) => this.wheelZooms || event.ctrlKey || event.metaKey,
    });
    this.resize();
    this.camera.fit(this.box);
  }

  // -- what is seen

  get view(): View {
    return { ...this.camera.view };
  }

  set view(view: View) {
    this.isFitted = false;
    this.camera.view = view;
  }

  fit(): void {
    this.isFitted = true;
    this.camera.fit(this.box);
    this.onView?.();
  }

  zoom(factor: number, px?: number, py?: number): void {
    this.isFitted = false;
    this.camera.zoom(factor, px, py);
    this.onView?.();
  }

  pan(dx: number, dy: number): void {
    this.isFitted = false;
    this.camera.pan(dx, dy);
    this.onView?.();
  }

  toScreen(x: number, y: number): [number, number] {
    return this.camera.toScreen(x, y);
  }

  /** Tell what buttons and legends cover, px: a fitted picture keeps clear of them. */
  cover(left: number, right: number, top: number, bottom: number): void {
    this.camera.covered = { left, right, top, bottom };
    if (this.isFitted) this.camera.fit(this.box);
  }

  /** Take over the size of the canvas and the density of its pixels. */
  resize(): void {
    const { canvas, camera } = this;
    this.ratio = globalThis.devicePixelRatio || 1;
    camera.width = Math.max(canvas.clientWidth, 1);
    camera.height = Math.max(canvas.clientHeight, 1);
    const [width, height] = [
      Math.round(camera.width * this.ratio),
      Math.round(camera.height * this.ratio),
    ];
    // Setting the size empties the canvas, even if it is the same.
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    if (this.isFitted) camera.fit(this.box);
  }

  setTheme(theme: ThemeName): void {
    this.pen.theme = new Theme(theme);
  }

  dispose(): void {
    this.deafen();
    this.onView = null;
  }

  // -- the picture

  draw(instant: Instant = this.instant): void {
    this.instant = instant;
    const { pen, camera, options, labels } = this;
    const { ctx } = pen;
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.globalAlpha = 1;
    ctx.fillStyle = pen.theme.colours.paper;
    ctx.fillRect(0, 0, camera.width, camera.height);
    ctx.lineCap = "round";
    ctx.lineJoin = "round";
    this.drawGrid();
    for (let k = this.stages.length - 1; k > 0; k--) {
      const ghost = this.stages[k]!;
      ghost.frame.set(instant, this.deformation);
      this.setSizes(ghost);
      pen.ghost = this.ghosts[k] ?? pen.theme.colours.text;
      this.drawBodies(ghost);
    }
    pen.ghost = null;
    const first = this.stages[0]!;
    const { frame, spots } = first;
    frame.set(instant, this.deformation);
    this.setSizes(first);
    if (options.trails) first.trails.draw(pen, this.trails, frame.place);
    this.drawBodies(first);
    if (options.centres) this.drawCentres(first);
    if (options.markers) this.drawMarkers(first);
    if (options.contacts) spots.marks(pen, frame);
    this.drawGlyphs(first, "top");
    if (options.forces) spots.forces(pen, frame);
    if (options.names) {
      labels.clear();
      this.drawNames(first);
    }
  }

  private setSizes({ run, spots }: Stage): void {
    const size = run.header.unit * this.camera.view.scale;
    const u = clamp(size, ...UNIT_RANGE);
    const few = spots.length <= FEW_MARKS;
    const sizes: Sizes = {
      u,
      stand: this.isCrowded ? u : Math.max(u, LEAST_STAND),
      mark: Math.max(few ? MARK[0] : MARK[1], MARK[2] * u),
      bar: clamp(BAR_PART * size, ...BAR_RANGE),
    };
    this.pen.sizes = sizes;
  }

  private drawBodies(of: Stage): void {
    const { pen } = this;
    const { run, frame } = of;
    this.drawGlyphs(of, "below");
    for (const body of run.header.bodies) {
      // The ground of a ghost is where the ground is.
      if (pen.isGhost && body.is_fixed) continue;
      const { x, y, theta } = frame.pose(body.name);
      for (const part of body.parts) {
        pen.place(x, y, theta);
        const skin = part.kind === "mesh" ? frame.skins.get(body.name) : undefined;
        if (skin) skin.paint(pen, body, this.field, this.range);
        else paintPart(pen, run, body, frame.place, part);
      }
    }
    this.drawGlyphs(of, "above");
  }

  private get range(): readonly [number, number] {
    return this.fields.find(({ name }) => name === this.field)?.range ?? [0, 0];
  }

  private drawGlyphs({ frame, glyphs }: Stage, level: Level): void {
    for (const { glyph, painter } of glyphs) painter[level]?.(this.pen, frame, glyph);
  }

  /** Draw lines at round distances, and how far apart they are. */
  private drawGrid(): void {
    const { pen, camera, ratio } = this;
    const { ctx } = pen;
    const { scale } = camera.view;
    const step = roundUp(GRID / scale);
    const [left, high] = camera.toPlane(0, 0);
    const [right, low] = camera.toPlane(camera.width, camera.height);
    // On the middle of a device's pixel a line is crisp.
    const crisp = (p: number): number => (Math.round(p * ratio - 0.5) + 0.5) / ratio;
    ctx.beginPath();
    for (let k = Math.ceil(left / step); k * step <= right; k++) {
      const x = crisp(camera.toScreen(k * step, 0)[0]);
      ctx.moveTo(x, 0);
      ctx.lineTo(x, camera.height);
    }
    for (let k = Math.ceil(low / step); k * step <= high; k++) {
      const y = crisp(camera.toScreen(0, k * step)[1]);
      ctx.moveTo(0, y);
      ctx.lineTo(camera.width, y);
    }
    pen.stroke(pen.theme.colours.grid, 1);
    // At the right, where no buttons are.
    const long = step * scale;
    const [x, y] = [crisp(camera.width - 14 - long), crisp(camera.height - 12)];
    const { pale, text } = pen.theme.colours;
    ctx.beginPath();
    ctx.moveTo(x, y - 4);
    ctx.lineTo(x, y);
    ctx.lineTo(x + long, y);
    ctx.lineTo(x + long, y - 4);
    pen.stroke(pale, 1.2);
    ctx.font = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
    ctx.textAlign = "center";
    ctx.textBaseline = "bottom";
    ctx.fillStyle = text;
    ctx.fillText(metres(step), x + 0.5 * long, y - 2);
  }

  /** Draw mass centres as discs with two dark quarters. */
  private drawCentres({ run, frame }: Stage): void {
    const { pen } = this;
    const { ctx } = pen;
    const { ink, paper } = pen.theme.colours;
    const radius = clamp(0.5 * pen.sizes.u, 2.5, 6);
    for (const body of run.header.bodies) {
      if (!isMoving(body)) continue;
      const { x, y, theta } = frame.pose(body.name);
      pen.place(x, y, theta);
      pen.disc(0, 0, radius);
      pen.fill(paper);
      const [px, py] = [pen.px(0, 0), pen.py(0, 0)];
      ctx.beginPath();
      for (const from of [-theta, Math.PI - theta]) {
        ctx.moveTo(px, py);
        ctx.arc(px, py, radius, from, from + 0.5 * Math.PI);
        ctx.closePath();
      }
      pen.fill(ink);
      pen.disc(0, 0, radius);
      pen.stroke(ink, 1.2);
    }
  }

  /** Draw the points of bodies as crosses. */
  private drawMarkers({ run, frame }: Stage): void {
    const { pen } = this;
    for (const body of run.header.bodies) {
      for (const marker of markersOf(frame, body)) {
        const [px, py] = this.camera.toScreen(...frame.point(marker));
        for (const isRim of [true, false]) {
          pen.ctx.beginPath();
          pen.ctx.moveTo(px - 4, py);
          pen.ctx.lineTo(px + 4, py);
          pen.ctx.moveTo(px, py - 4);
          pen.ctx.lineTo(px, py + 4);
          const { paper, ink } = pen.theme.colours;
          pen.stroke(isRim ? paper : ink, isRim ? 3 : 1.2);
        }
      }
    }
  }

  private drawNames({ run, frame, spots }: Stage): void {
    const { pen, labels, camera } = this;
    const { ink, text, drive, load, spring } = pen.theme.colours;
    for (const body of run.header.bodies) {
      if (body.kind === "ground") continue;
      const { x, y } = frame.pose(body.name);
      const colour = pen.theme.words(body.colour);
      labels.write(
        pen,
        `body ${body.name}`,
        body.name,
        ...camera.toScreen(x, y),
        colour,
      );
    }
    for (const glyph of run.header.glyphs) {
      const [xb, yb] = frame.point(glyph.pivot ?? glyph.b);
      let [x, y] = [xb, yb];
      const isBetween = glyph.kind === "spring" || glyph.kind === "rod";
      if (isBetween) {
        const [xa, ya] = frame.point(glyph.a);
        [x, y] = [0.5 * (xa + xb), 0.5 * (ya + yb)];
      }
      const isSpring = glyph.kind === "spring" || glyph.kind === "spiral";
      const colour = isSpring
        ? spring
        : { joint: ink, drive, force: load }[glyph.family];
      const key = `glyph ${glyph.name}`;
      labels.write(pen, key, glyph.name, ...camera.toScreen(x, y), colour);
    }
    // A contact may have many spots: named once.
    const named = new Set<string>();
    run.header.spots.forEach((spot, k) => {
      if (spot.family !== "contact" || named.has(spot.element)) return;
      named.add(spot.element);
      const [px, py] = camera.toScreen(...spots.point(k, frame));
      labels.write(pen, `spot ${spot.element}`, spot.element, px, py, ink);
    });
    if (!this.options.markers) return;
    for (const body of run.header.bodies) {
      for (const marker of markersOf(frame, body)) {
        const key = `point ${body.name}.${marker.name}`;
        const [px, py] = camera.toScreen(...frame.point(marker));
        labels.write(pen, key, marker.name, px, py, text);
      }
    }
  }
}

function stage(run: Run): Stage {
  const glyphs = run.header.glyphs
    .map((glyph) => ({ glyph, painter: glyphPainter(glyph) }))
    .sort(
      (a, b) => FAMILIES.indexOf(a.glyph.family) - FAMILIES.indexOf(b.glyph.family),
    );
  return {
    run,
    frame: new Frame(run),
    glyphs,
    spots: new Spots(run),
    trails: new Trails(run),
  };
}

/** Return the points of a body; those of a mesh move with its nodes. */
function markersOf(frame: Frame, body: Body): (Marker & { name: string })[] {
  const sites = frame.skins.get(body.name)?.mesh.sites;
  return Object.entries(body.points).map(([name, point]) => {
    const node = sites?.[name];
    return { name, body: body.name, point, ...(node === undefined ? {} : { node }) };
  });
}

function isMoving(body: Body): boolean {
  return !body.is_fixed && body.kind !== "support";
}

function union(boxes: readonly Box[]): Box {
  return [
    Math.min(...boxes.map((box) => box[0])),
    Math.min(...boxes.map((box) => box[1])),
    Math.max(...boxes.map((box) => box[2])),
    Math.max(...boxes.map((box) => box[3])),
  ];
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Return the next of 1, 2, 5, 10, ... */
export function roundUp(value: number): number {
  const ten = 10 ** Math.floor(Math.log10(value));
  const part = value / ten;
  return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * ten;
}

/** Return a round length in words. */
function metres(length: number): string {
  const units = [
    [1000, "km"],
    [1, "m"],
    [1e-3, "mm"],
    [1e-6, "µm"],
  ] as const;
  const fit = units.find(([size]) => length >= 0.999 * size) ?? [1e-9, "nm"];
  return `${Number((length / fit[0]).toPrecision(3))} ${fit[1]}`;
}
