import { describe, expect, it } from "vitest";
import type { Body, Glyph, Part } from "../src/format";
import { toGlobal, type Instant } from "../src/run";
import { Camera } from "../src/scene/camera";
import { registerGlyph } from "../src/scene/glyphs";
import { registerPart } from "../src/scene/parts";
import { clip } from "../src/scene/pen";
import { roundUp, Scene } from "../src/scene/scene";
import { LONGEST, SHORTEST } from "../src/scene/spots";
import { THEMES } from "../src/scene/theme";
import { defaultTrails, trace } from "../src/scene/trails";
import { FakeCanvas, type Ink } from "./canvas";
import {
  block,
  box,
  GROUND,
  makeBody,
  makeRun,
  MODES,
  motion,
  type Recipe,
} from "./make";

// Columns are float32: 6e-8 of 1 m, times some 600 px per m; and sums of few doubles.
const PIXEL = 1e-3;

const light = THEMES.light;

function draw(
  recipes: Recipe | Recipe[],
  instant: Instant = { t: 0, side: "after" },
  set: (scene: Scene) => void = () => {},
): { canvas: FakeCanvas; scene: Scene; inks: Ink[] } {
  const canvas = new FakeCanvas();
  const runs = (Array.isArray(recipes) ? recipes : [recipes]).map(makeRun);
  const scene = new Scene(canvas.element, runs);
  set(scene);
  canvas.inks = [];
  scene.draw(instant);
  return { canvas, scene, inks: canvas.inks };
}

function at(t: number, side: Instant["side"] = "after"): Instant {
  return { t, side };
}

/** Strokes of thin ticks: how hatching is drawn. */
function hatching(inks: Ink[]): Ink[] {
  return inks.filter((ink) => ink.kind === "stroke" && ink.width === 0.9);
}

/** How far the head of an arrow's ink is from a place. */
function reach(inks: Ink[], colour: string, [x, y]: [number, number]): number {
  const heads = inks.filter((ink) => ink.kind === "fill" && ink.colour === colour);
  expect(heads.length).toBe(1);
  const [hx, hy] = heads[0]!.points[0]!;
  return Math.hypot(hx - x, hy - y);
}

describe("camera", () => {
  function camera(): Camera {
    const made = new Camera();
    [made.width, made.height] = [800, 600];
    made.view = { x: 2, y: -1, scale: 150 };
    return made;
  }

  it("has its view in the middle, and y upwards", () => {
    expect(camera().toScreen(2, -1)).toEqual([400, 300]);
    expect(camera().toScreen(3, 0)).toEqual([550, 150]);
  });

  it("finds back from pixels to metres", () => {
    const made = camera();
    const [x, y] = made.toPlane(...made.toScreen(0.3, 0.7));
    // Rounding of a few sums of doubles.
    expect(x).toBeCloseTo(0.3, 12);
    expect(y).toBeCloseTo(0.7, 12);
  });

  it("zooms about a pixel", () => {
    const made = camera();
    made.fit([0, -3, 4, 1]);
    const [before, scale] = [made.toPlane(123, 456), made.view.scale];
    made.zoom(3, 123, 456);
    const after = made.toPlane(123, 456);
    expect(made.view.scale).toBeCloseTo(3 * scale, 9);
    expect(after[0]).toBeCloseTo(before[0], 12);
    expect(after[1]).toBeCloseTo(before[1], 12);
  });

  it("pans by pixels", () => {
    const made = camera();
    made.pan(30, -20);
    expect(made.toScreen(2, -1)).toEqual([430, 280]);
  });

  it.each([
    [[-1, -1, 1, 1]],
    [[0, 0, 100, 0.1]],
    [[0, 5, 0, 9]], // no width
    [[0, 0, 1e-6, 2e-6]],
    [[3, 3, 3, 3]], // one point
  ] as const)("fits the whole of %j, with a margin", ([left, low, right, high]) => {
    const made = camera();
    made.fit([left, low, right, high]);
    for (const [x, y] of [
      [left, low],
      [right, high],
    ] as const) {
      const [px, py] = made.toScreen(x, y);
      expect(px).toBeGreaterThan(10);
      expect(px).toBeLessThan(790);
      expect(py).toBeGreaterThan(10);
      expect(py).toBeLessThan(590);
    }
    const middle = made.toScreen(0.5 * (left + right), 0.5 * (low + high));
    expect(middle[0]).toBeCloseTo(400, 6);
    expect(middle[1]).toBeCloseTo(300, 6);
  });

  it("refuses a view that is none", () => {
    const made = camera();
    made.view = { x: NaN, y: 0, scale: 1 };
    made.view = { x: 0, y: 0, scale: -1 };
    made.zoom(0);
    expect(made.view).toEqual({ x: 2, y: -1, scale: 150 });
  });
});

describe("hands", () => {
  const finger = (pointerId: number, clientX: number, clientY: number) => ({
    pointerId,
    clientX,
    clientY,
    button: 0,
    pointerType: "touch",
    ctrlKey: false,
  });

  it("drag, and tell that a drawing is due", () => {
    const { canvas, scene } = draw(block());
    let n = 0;
    scene.onView = () => n++;
    const before = scene.toScreen(0, 0);
    canvas.fire("pointerdown", finger(1, 100, 100));
    canvas.fire("pointermove", finger(1, 140, 90));
    canvas.fire("pointerup", finger(1, 140, 90));
    canvas.fire("pointermove", finger(1, 500, 500)); // no longer down
    const after = scene.toScreen(0, 0);
    expect(n).toBe(1);
    expect(after[0] - before[0]).toBeCloseTo(40, 9);
    expect(after[1] - before[1]).toBeCloseTo(-10, 9);
    expect(canvas.inks.length).toBeGreaterThan(0);
  });

  it("pinch: both fingers keep their places in the plane", () => {
    const { canvas, scene } = draw(block());
    const { view } = scene;
    canvas.fire("pointerdown", finger(1, 300, 300));
    canvas.fire("pointerdown", finger(2, 500, 300));
    canvas.fire("pointermove", finger(1, 200, 300));
    canvas.fire("pointermove", finger(2, 600, 300));
    expect(scene.view.scale / view.scale).toBeCloseTo(2, 9);
    expect(scene.view.x).toBeCloseTo(view.x, 9);
    expect(scene.view.y).toBeCloseTo(view.y, 9);
  });

  it("turn the wheel to zoom, unless it belongs to the page", () => {
    const { canvas, scene } = draw(block());
    const turn = { ...finger(1, 400, 300), deltaY: -100, deltaMode: 0 };
    const first = scene.view.scale;
    canvas.fire("wheel", turn);
    const second = scene.view.scale;
    expect(second).toBeGreaterThan(first);
    scene.wheelZooms = false;
    canvas.fire("wheel", turn);
    expect(scene.view.scale).toBe(second);
    canvas.fire("wheel", { ...turn, ctrlKey: true });
    expect(scene.view.scale).toBeGreaterThan(second);
  });

  it("click twice to fit, and let go of a scene that is disposed", () => {
    const { canvas, scene } = draw(block());
    const { view } = scene;
    scene.zoom(5);
    canvas.fire("dblclick", {});
    expect(scene.view).toEqual(view);
    scene.dispose();
    expect(canvas.listeners.size).toBe(0);
  });
});

describe("size", () => {
  it("keeps the picture fitted until it is moved", () => {
    const { canvas, scene } = draw(block());
    const first = scene.view.scale;
    canvas.clientWidth = 400;
    scene.resize();
    expect(scene.view.scale).toBeLessThan(first);
    scene.pan(1, 0);
    const moved = scene.view;
    canvas.clientWidth = 900;
    scene.resize();
    expect(scene.view).toEqual(moved);
  });

  it("keeps a fitted picture clear of what covers the canvas", () => {
    const { scene } = draw({ box: [-1, 0, 1, 0.1] });
    scene.cover(100, 20, 30, 40);
    expect(scene.toScreen(-1, 0)[0]).toBeGreaterThan(100);
    expect(scene.toScreen(1, 0)[0]).toBeLessThan(780);
    const [x, y] = scene.toScreen(0, 0.05);
    expect(x).toBeCloseTo(0.5 * (100 + 780), 6);
    expect(y).toBeCloseTo(0.5 * (30 + 560), 6);
  });

  it("has as many pixels as the screen", () => {
    const before = globalThis.devicePixelRatio;
    Object.assign(globalThis, { devicePixelRatio: 2 });
    try {
      const { canvas } = draw(block());
      expect([canvas.width, canvas.height]).toEqual([1600, 1200]);
    } finally {
      Object.assign(globalThis, { devicePixelRatio: before });
    }
  });
});

describe("contacts", () => {
  function mark(t: number, side: Instant["side"]): Ink {
    const { scene, inks } = draw(block(), at(t, side));
    const run = makeRun(block());
    const place = run.locate(at(t, side));
    const [x, y] = scene.toScreen(
      run.value("sole.x", place),
      run.value("sole.y", place),
    );
    const found = inks.filter(
      (ink) =>
        ink.kind === "fill" &&
        ink.arcs.some((arc) => Math.hypot(arc.x - x, arc.y - y) < PIXEL),
    );
    expect(found.length).toBe(1);
    return found[0]!;
  }

  it.each([
    [0.5, "after", MODES["slip+"]],
    [1, "before", MODES["slip+"]],
    [1, "after", MODES.stick],
    [2, "before", MODES.stick],
    [2, "after", light.paper], // open: hollow
  ] as const)("at %f s, %s, have the colour %s", (t, side, colour) => {
    expect(mark(t, side).colour).toBe(colour);
  });

  it("are smaller while open", () => {
    const [open, touching] = [mark(2, "after"), mark(2, "before")];
    expect(open.arcs[0]!.radius).toBeLessThan(touching.arcs[0]!.radius);
  });

  it("have arrows as long as their forces, the longest a fifth of the picture", () => {
    const place: [number, number] = [1, 0];
    const before = draw(block(), at(1, "before"));
    const after = draw(block(), at(1, "after"));
    const from = after.scene.toScreen(...place);
    const unit = (LONGEST * 600) / 20; // px/N: 20 N is the largest of the run
    expect(reach(after.inks, light.normal, from)).toBeCloseTo(20 * unit, 3);
    expect(reach(before.inks, light.normal, from)).toBeCloseTo(10 * unit, 3);
    expect(reach(after.inks, light.friction, from)).toBeCloseTo(2 * unit, 3);
    expect(reach(before.inks, light.friction, from)).toBeCloseTo(3 * unit, 3);
  });

  it("point where their forces do: on b along n, and along n turned by -90 deg", () => {
    const { scene, inks } = draw(block(), at(1, "after"));
    const [x, y] = scene.toScreen(1, 0);
    const head = (colour: string): [number, number] =>
      inks.find((ink) => ink.kind === "fill" && ink.colour === colour)!.points[0]!;
    expect(head(light.normal)[0]).toBeCloseTo(x, 3);
    expect(head(light.normal)[1]).toBeLessThan(y); // up
    expect(head(light.friction)[0]).toBeGreaterThan(x); // +2 N along (1, 0)
    expect(head(light.friction)[1]).toBeCloseTo(y, 3);
  });

  it("point along an oblique normal and its tangent as well", () => {
    const recipe = block();
    const columns = { ...recipe.columns, "sole.nx": 0.6, "sole.ny": 0.8 };
    const { scene, inks } = draw({ ...recipe, columns }, at(1, "after"));
    const [x, y] = scene.toScreen(1, 0);
    const unit = (LONGEST * 600) / 20;
    // tau = (0.8, -0.6); y counts downwards on the screen.
    for (const [colour, fx, fy] of [
      [light.normal, 20 * 0.6, 20 * 0.8],
      [light.friction, 2 * 0.8, -2 * 0.6],
    ] as const) {
      const head = inks.find((ink) => ink.kind === "fill" && ink.colour === colour)!;
      expect(head.points[0]![0]).toBeCloseTo(x + unit * fx, 3);
      expect(head.points[0]![1]).toBeCloseTo(y - unit * fy, 3);
    }
  });

  it("leave out forces too small to be seen", () => {
    const recipe = block();
    const forces = [20, 20, 20, 0.9 * SHORTEST * 20, 0.9 * SHORTEST * 20, 0, 0];
    const columns = { ...recipe.columns, "sole.normal_force": forces };
    const { inks } = draw({ ...recipe, columns }, at(1, "after"));
    expect(inks.some((ink) => ink.colour === light.normal)).toBe(false);
  });

  it("stay on the body where the document says which point touches", () => {
    const recipe = block();
    const disc = { body: "block", point: [0.15, -0.05], radius: 0.05 } as const;
    const spot = { ...recipe.spots![0]!, at: disc };
    const { scene, inks } = draw({ ...recipe, spots: [spot] }, at(0.25));
    // The block is at (0.25, 0.1), the disc's lowest point 0.1 below.
    const [x, y] = scene.toScreen(0.4, 0);
    const found = inks.filter((ink) =>
      ink.arcs.some((arc) => Math.hypot(arc.x - x, arc.y - y) < PIXEL),
    );
    expect(found.map((ink) => ink.colour)).toContain(MODES["slip+"]);
  });

  it("and forces can be switched off", () => {
    const { inks } = draw(block(), at(1), (scene) => {
      scene.options.contacts = false;
      scene.options.forces = false;
    });
    const colours = new Set(inks.map((ink) => ink.colour));
    for (const colour of [MODES.stick, light.normal, light.friction]) {
      expect(colours.has(colour)).toBe(false);
    }
  });
});

describe("bodies", () => {
  const kinds: Part[] = [
    box(0.4, 0.2),
    { kind: "circle", center: [0, 0], radius: 0.2 },
    { kind: "segment", start: [-0.2, 0], end: [0.2, 0] },
    { kind: "line", point: [0, 0], angle: 0.3 },
  ];

  it.each(kinds)("$kind is hatched on ground and supports only", (part) => {
    const hatched = { ...part, is_hatched: true } as Part;
    const free = draw({
      bodies: [GROUND, makeBody("b", [part])],
      columns: motion("b", 0),
    });
    const support: Body = makeBody("b", [hatched], { kind: "support", colour: null });
    const held = draw({ bodies: [GROUND, support], columns: motion("b", 0) });
    const ground = draw({ bodies: [{ ...GROUND, parts: [hatched] }] });
    expect(hatching(free.inks)).toEqual([]);
    expect(hatching(held.inks).length).toBe(1);
    expect(hatching(ground.inks).length).toBe(1);
    expect(held.inks.some((ink) => ink.colour === "#0072B2")).toBe(false);
    expect(free.inks.some((ink) => ink.colour === "#0072B2")).toBe(true);
  });

  it("areas are hatched inside, edges on their right", () => {
    const inside = draw({
      bodies: [{ ...GROUND, parts: [{ ...box(0.4, 0.2), is_hatched: true } as Part] }],
    });
    expect(hatching(inside.inks)[0]!.clipped).toBe(true);
    const part: Part = {
      kind: "segment",
      start: [-1, 0],
      end: [1, 0],
      is_hatched: true,
    };
    const edge = draw({ bodies: [{ ...GROUND, parts: [part] }] });
    const floor = edge.scene.toScreen(0, 0)[1];
    const ticks = hatching(edge.inks)[0]!.points;
    expect(ticks.length).toBeGreaterThan(20);
    for (const [, y] of ticks) expect(y).toBeGreaterThanOrEqual(floor - PIXEL);
  });

  it("are where their poses are", () => {
    const columns = motion("b", 0.25, -0.5, 0.5 * Math.PI);
    const { scene, inks } = draw({
      bodies: [GROUND, makeBody("b", [box(0.4, 0.2)])],
      columns,
    });
    const outline = inks.find((ink) => ink.colour === "#0072B2")!;
    // Turned by 90 deg, the corner (-0.2, -0.1) is at (0.1, -0.2) from the centre.
    const [x, y] = scene.toScreen(0.25 + 0.1, -0.5 - 0.2);
    expect(Math.abs(outline.points[0]![0] - x)).toBeLessThan(PIXEL);
    expect(Math.abs(outline.points[0]![1] - y)).toBeLessThan(PIXEL);
  });

  it("lines without ends run across the view, and no farther than needed", () => {
    const line: Part = { kind: "line", point: [0, 0], angle: 0, is_hatched: true };
    for (const pan of [0, 5000]) {
      const { scene, inks } = draw(
        { bodies: [{ ...GROUND, parts: [line] }] },
        at(0),
        (made) => made.pan(pan, 0),
      );
      const y = scene.toScreen(0, 0)[1];
      const edge = inks.find(
        (ink) =>
          ink.kind === "stroke" && ink.colour === light.pale && ink.width === 1.5,
      )!;
      const xs = edge.points.map((point) => point[0]);
      expect(Math.min(...xs)).toBeLessThanOrEqual(0);
      expect(Math.max(...xs)).toBeGreaterThanOrEqual(800);
      expect(Math.max(...xs.map(Math.abs))).toBeLessThan(900);
      for (const point of edge.points) expect(point[1]).toBeCloseTo(y, 9);
    }
  });

  it("a line that is not seen is not drawn", () => {
    const line: Part = { kind: "line", point: [0, 0], angle: 0, is_hatched: true };
    const { inks } = draw({ bodies: [{ ...GROUND, parts: [line] }] }, at(0), (made) =>
      made.pan(0, 5000),
    );
    expect(hatching(inks)).toEqual([]);
  });

  it("of an unknown kind of part are left out, and nothing else", () => {
    const strange = { kind: "cloud" } as unknown as Part;
    const { inks } = draw({
      bodies: [GROUND, makeBody("b", [strange, box(0.4, 0.2)])],
      columns: motion("b", 0),
    });
    expect(inks.filter((ink) => ink.colour === "#0072B2").length).toBe(2);
  });

  it("may bring a new kind: triangles with colours from a column", () => {
    interface Tiles {
      kind: "tiles";
      triangles: [number, number][][];
      field: string[]; // columns, one for each triangle
    }
    registerPart<Tiles>("tiles", (pen, run, _body, place, part) => {
      part.triangles.forEach((corners, k) => {
        pen.path(corners, true);
        const value = Math.round(255 * run.value(part.field[k]!, place));
        pen.fill(`rgb(${value}, 0, 0)`);
      });
    });
    const tiles: Tiles = {
      kind: "tiles",
      triangles: [
        [
          [0, 0],
          [0.1, 0],
          [0, 0.1],
        ],
        [
          [0.1, 0],
          [0.1, 0.1],
          [0, 0.1],
        ],
      ],
      field: ["b.s0", "b.s1"],
    };
    const { scene, inks } = draw(
      {
        bodies: [GROUND, makeBody("b", [tiles as unknown as Part])],
        columns: { ...motion("b", 0.5), "b.s0": [0, 1], "b.s1": 1 },
      },
      at(0.2),
    );
    // Linear between samples: 0.2 of 255, and a constant.
    const [first, second] = inks.filter((ink) => ink.colour.startsWith("rgb"));
    expect(first!.colour).toBe("rgb(51, 0, 0)");
    expect(second!.colour).toBe("rgb(255, 0, 0)");
    const [x, y] = scene.toScreen(0.5, 0);
    expect(first!.points[0]![0]).toBeCloseTo(x, 3);
    expect(first!.points[0]![1]).toBeCloseTo(y, 3);
  });
});

describe("joints, drives and forces", () => {
  const spring: Glyph = {
    kind: "spring",
    family: "force",
    name: "spring",
    a: { body: "ground", point: [-0.8, 0.2] },
    b: { body: "b", point: [0.1, 0.05] },
    has_spring: true,
  };
  const moving: Recipe = {
    bodies: [GROUND, makeBody("b")],
    columns: motion("b", [0, 0.6], [0, 0.3], [0, 1], { vx: 0.6, vy: 0.3, omega: 1 }),
    glyphs: [spring],
  };

  it.each([0, 0.25, 0.7, 1])("a spring ends at its markers, at %f s", (t) => {
    for (const more of [{}, { has_damper: true }, { has_spring: false }]) {
      const glyph = { ...spring, ...more };
      const { scene, inks } = draw({ ...moving, glyphs: [glyph] }, at(t));
      const wire = inks.find(
        (ink) => ink.kind === "stroke" && ink.colour === light.spring,
      )!;
      const run = makeRun(moving);
      const pose = run.pose("b", run.locate(at(t)));
      const ends = [
        scene.toScreen(-0.8, 0.2),
        scene.toScreen(...toGlobal(pose, spring.b.point)),
      ];
      for (const [k, end] of ends.entries()) {
        const point = wire.points[k === 0 ? 0 : wire.points.length - 1]!;
        expect(Math.hypot(point[0] - end[0], point[1] - end[1])).toBeLessThan(PIXEL);
      }
    }
  });

  it("a spring keeps its coils while it stretches", () => {
    const count = (t: number): number =>
      draw(moving, at(t)).inks.find(
        (ink) => ink.kind === "stroke" && ink.colour === light.spring,
      )!.points.length;
    expect(count(1)).toBe(count(0));
  });

  it("a pin stands on hatching where it is fixed, and only there", () => {
    const pin = (body: string): Glyph => ({
      kind: "pin",
      family: "joint",
      name: "pin",
      a: { body, point: [0, 0] },
      b: { body: "b", point: [0, 0] },
    });
    const bodies = [GROUND, makeBody("b"), makeBody("c")];
    const columns = { ...motion("b", 0), ...motion("c", 0) };
    const fixed = draw({ bodies, columns, glyphs: [pin("ground")] });
    const free = draw({ bodies, columns, glyphs: [pin("c")] });
    expect(hatching(fixed.inks).length).toBe(1);
    expect(hatching(free.inks).length).toBe(0);
  });

  it("a joint with friction has the colour of its mode", () => {
    const glyph: Glyph = {
      kind: "pin",
      family: "joint",
      name: "pin",
      a: { body: "ground", point: [0, 0] },
      b: { body: "b", point: [0, 0] },
      mode: "pin.mode",
    };
    const recipe: Recipe = {
      t: [0, 1, 1, 2],
      bodies: [GROUND, makeBody("b")],
      columns: { ...motion("b", 0), "pin.mode": [-1, -1, 0, 0] },
      glyphs: [glyph],
    };
    const colours = (side: Instant["side"]): string[] =>
      draw(recipe, at(1, side)).inks.map((ink) => ink.colour);
    expect(colours("before")).toContain(MODES["slip-"]);
    expect(colours("before")).not.toContain(MODES.stick);
    expect(colours("after")).toContain(MODES.stick);
  });

  it("a block is drawn along its guide, unless a shape shows it", () => {
    const guide: Glyph = {
      kind: "guide",
      family: "joint",
      name: "guide",
      a: { body: "ground", point: [0, 0] },
      b: { body: "b", point: [0, 0] },
      axis: 0.5,
      travel: [-0.5, 0.5],
      length: 0.4,
      height: 0.2,
    };
    const recipe = { bodies: [GROUND, makeBody("b")], columns: motion("b", 0) };
    const { scene, inks } = draw({ ...recipe, glyphs: [guide] });
    const corner = toGlobal({ x: 0, y: 0, theta: 0.5 }, [0.2, 0.1]);
    const [x, y] = scene.toScreen(...corner);
    const outline = inks.find((ink) => ink.colour === "#0072B2")!;
    const nearest = outline.points.map((p) => Math.hypot(p[0] - x, p[1] - y));
    expect(Math.min(...nearest)).toBeLessThan(PIXEL);
    const shown: Glyph = { ...guide, has_block: false };
    const other = draw({ ...recipe, glyphs: [shown] });
    expect(other.inks.some((ink) => ink.colour === "#0072B2")).toBe(false);
    expect(hatching(other.inks).length).toBe(2); // both flanks
  });

  it("a load's arrow ends where it acts, as long as it is beside its peak", () => {
    const glyph: Glyph = {
      kind: "force",
      family: "force",
      name: "push",
      a: { body: "ground", point: [0, 0] },
      b: { body: "b", point: [0, 0] },
      force: ["push.force_x", "push.force_y"],
    };
    const recipe: Recipe = {
      bodies: [GROUND, makeBody("b")],
      columns: { ...motion("b", 0), "push.force_x": [0, 4], "push.force_y": [0, -3] },
      glyphs: [glyph],
    };
    const length = (t: number): number => {
      const { scene, inks } = draw(recipe, at(t));
      const head = inks.find((ink) => ink.kind === "fill" && ink.colour === light.load)!
        .points[0]!;
      const shaft = inks.find(
        (ink) => ink.kind === "stroke" && ink.colour === light.load,
      )!.points[0]!;
      const [x, y] = scene.toScreen(0, 0);
      expect(Math.hypot(head[0] - x, head[1] - y)).toBeLessThan(PIXEL);
      return Math.hypot(head[0] - shaft[0], head[1] - shaft[1]);
    };
    expect(length(0.5)).toBeCloseTo(0.5 * length(1), 3);
    const nothing = draw(recipe, at(0)).inks.filter((ink) => ink.colour === light.load);
    expect(nothing).toEqual([]);
  });

  it("a couple's arrow turns with its sign", () => {
    const glyph: Glyph = {
      kind: "couple",
      family: "force",
      name: "couple",
      a: { body: "ground", point: [0, 0] },
      b: { body: "b", point: [0, 0] },
      torque: "couple.torque",
    };
    const recipe: Recipe = {
      bodies: [GROUND, makeBody("b")],
      columns: { ...motion("b", 0), "couple.torque": [2, -2] },
      glyphs: [glyph],
    };
    const sweep = (t: number): number =>
      draw(recipe, at(t)).inks.find((ink) => ink.colour === light.load)!.arcs[0]!.sweep;
    // Counter-clockwise is against the angles of the screen, whose y counts downwards.
    expect(sweep(0)).toBeLessThan(0);
    expect(sweep(1)).toBeGreaterThan(0);
  });

  it.each(["joint", "drive", "force"] as const)(
    "an unknown %s is drawn as its family",
    (family) => {
      const glyph = (kind: string): Glyph => ({
        kind,
        family,
        name: "strange",
        a: { body: "c", point: [0, 0] },
        b: { body: "b", point: [0.1, 0] },
      });
      const recipe: Recipe = {
        bodies: [GROUND, makeBody("b"), makeBody("c")],
        columns: { ...motion("b", 0.2), ...motion("c", -0.2) },
      };
      const without = draw(recipe).inks;
      const strange = draw({ ...recipe, glyphs: [glyph("strange")] }).inks;
      expect(strange.length).toBeGreaterThan(without.length);
    },
  );

  it("a new kind is drawn once it is registered", () => {
    registerGlyph("gear", {
      above: (pen, frame, glyph) => {
        pen.place(...frame.point(glyph.b), 0);
        pen.disc(0, 0, 5);
        pen.fill("gold");
      },
    });
    const glyph: Glyph = { ...spring, kind: "gear" };
    const { inks } = draw({ ...moving, glyphs: [glyph] });
    expect(inks.filter((ink) => ink.colour === "gold").length).toBe(1);
  });

  it("every known kind draws something", () => {
    const both = { a: { body: "c", point: [0, 0] }, b: { body: "b", point: [0.1, 0] } };
    const columns = { ...motion("b", 0.2), ...motion("c", -0.2), "g.fx": 1, "g.m": 1 };
    const recipe: Recipe = {
      bodies: [GROUND, makeBody("b"), makeBody("c")],
      columns: { ...columns, "g.fy": 0 },
    };
    const without = draw(recipe).inks.length;
    const kinds =
      "pin slot guide rod weld motor actuator spring spiral force couple pair";
    for (const kind of kinds.split(" ")) {
      const glyph = {
        ...both,
        kind,
        family: "joint",
        name: "g",
        force: ["g.fx", "g.fy"],
        torque: "g.m",
      } as unknown as Glyph;
      const n = draw({ ...recipe, glyphs: [glyph] }).inks.length;
      expect(n, kind).toBeGreaterThan(without);
    }
  });
});

describe("comparison", () => {
  it("draws other runs as outlines in the colour of theirs, at the same time", () => {
    const one: Recipe = {
      bodies: [GROUND, makeBody("b", [box(0.4, 0.2)])],
      columns: motion("b", [0, 0.1], 0, 0, { vx: 0.1 }),
    };
    const two: Recipe = { ...one, columns: motion("b", [0, 0.5], 0, 0, { vx: 0.5 }) };
    const { scene, inks } = draw([one, two], at(0.5), (scene) => {
      scene.ghosts = ["#000000", "#D55E00"];
    });
    const found = inks.filter((ink) => ["#0072B2", "#D55E00"].includes(ink.colour));
    expect(found.map((ink) => [ink.kind, ink.colour])).toEqual([
      ["stroke", "#D55E00"],
      ["fill", "#0072B2"],
      ["stroke", "#0072B2"],
    ]);
    const [ghost, , outline] = found;
    expect(ghost!.alpha).toBeLessThan(1);
    expect(outline!.alpha).toBe(1);
    const left = (x: number): number => scene.toScreen(x - 0.2, 0)[0];
    expect(ghost!.points[0]![0]).toBeCloseTo(left(0.25), 3);
    expect(outline!.points[0]![0]).toBeCloseTo(left(0.05), 3);
  });

  it("draws what is fixed once", () => {
    const pin: Glyph = {
      kind: "pin",
      family: "joint",
      name: "pin",
      a: { body: "ground", point: [0, 0] },
      b: { body: "b", point: [0, 0] },
    };
    const part: Part = {
      kind: "segment",
      start: [-1, 0],
      end: [1, 0],
      is_hatched: true,
    };
    const recipe: Recipe = {
      bodies: [{ ...GROUND, parts: [part] }, makeBody("b")],
      columns: motion("b", 0),
      glyphs: [pin],
    };
    const pale = (inks: Ink[]): number =>
      inks.filter((ink) => ink.colour === light.pale).length;
    expect(pale(draw([recipe, recipe]).inks)).toBe(pale(draw(recipe).inks));
  });

  it("shows all of both", () => {
    const one: Recipe = { box: [0, 0, 1, 1] };
    const { scene } = draw([one, { box: [4, 0, 5, 1] }]);
    expect(scene.toScreen(0, 0)[0]).toBeGreaterThan(0);
    expect(scene.toScreen(5, 0)[0]).toBeLessThan(800);
  });
});

describe("trails", () => {
  // A point on a circle of radius 1, sampled coarsely, with exact rates.
  const n = 33;
  const t = Array.from({ length: n }, (_, i) => (2 * Math.PI * i) / (n - 1));
  const circle: Recipe = {
    t,
    box: [-1, -1, 1, 1],
    bodies: [GROUND, makeBody("b", [], { points: { tip: [1, 0] } })],
    columns: motion("b", 0, 0, t, { omega: 1 }),
  };

  it("follow the path between samples", () => {
    const path = trace(makeRun(circle), "b.tip")!;
    expect(path.t.length).toBeGreaterThan(n);
    // Chords keep to 4e-4 of the box's 2 m, checked in their middles.
    for (let k = 0; k + 1 < path.t.length; k++) {
      const [x, y] = [
        0.5 * (path.x[k]! + path.x[k + 1]!),
        0.5 * (path.y[k]! + path.y[k + 1]!),
      ];
      expect(Math.abs(1 - Math.hypot(x, y))).toBeLessThan(1e-3);
    }
  });

  it("end at the body: what is past is solid, what is to come is faint", () => {
    const now = 1.234;
    const { scene, inks } = draw(circle, at(now), (made) => {
      made.options.trails = true;
      made.trails = ["b.tip", "nothing.at.all"];
    });
    const [future, past] = inks.filter(
      (ink) => ink.kind === "stroke" && ink.colour === "#0072B2",
    );
    expect(future!.alpha).toBeLessThan(past!.alpha);
    const [x, y] = scene.toScreen(Math.cos(now), Math.sin(now));
    const begin = future!.points[0]!;
    const end = past!.points[0]!;
    // The angle is linear in time, so that cubics are exact.
    for (const [px, py] of [begin, end]) {
      expect(Math.hypot(px - x, py - y)).toBeLessThan(PIXEL);
    }
    const [sx, sy] = scene.toScreen(1, 0);
    for (const { points } of [past!, future!]) {
      const [px, py] = points[points.length - 1]!;
      expect(Math.hypot(px - sx, py - sy)).toBeLessThan(PIXEL);
    }
  });

  it("cost no more for a long run", () => {
    const many = 20000;
    const times = Array.from({ length: many }, (_, i) => 0.1 * i);
    const long: Recipe = { ...circle, t: times };
    long.columns = motion("b", 0, 0, times, { omega: 1 });
    const { inks } = draw(long, at(1000), (made) => {
      made.options.trails = true;
    });
    const points = inks
      .filter((ink) => ink.colour === "#0072B2")
      .map((ink) => ink.points.length);
    expect(points.length).toBe(2);
    for (const size of points) expect(size).toBeLessThanOrEqual(2001);
  });

  it("are those of points that move and that no joint holds", () => {
    expect(defaultTrails(makeRun(circle))).toEqual(["b.tip"]);
    expect(defaultTrails(makeRun(block()))).toEqual(["block.sole", "block"]);
  });
});

describe("names, centres, markers", () => {
  it("names do not overlap", () => {
    const bodies = Array.from({ length: 30 }, (_, k) => makeBody(`body${k}`));
    const columns = Object.assign(
      {},
      ...bodies.map(({ name }, k) => motion(name, 0.02 * (k % 6), 0.02 * (k % 5))),
    ) as Record<string, number>;
    const { inks } = draw({ bodies: [GROUND, ...bodies], columns }, at(0), (made) => {
      made.options.names = true;
    });
    const texts = inks.filter((ink) => ink.words.startsWith("body"));
    expect(texts.length).toBeGreaterThan(8);
    for (const [k, a] of texts.entries()) {
      for (const b of texts.slice(0, k)) {
        // The fake's letters are 6 px wide; names are 12 px tall.
        const [dx, dy] = [
          Math.abs(a.points[0]![0] - b.points[0]![0]),
          Math.abs(a.points[0]![1] - b.points[0]![1]),
        ];
        const wide = 6 * Math.min(a.words.length, b.words.length);
        expect(dx >= wide || dy >= 12, `${a.words} and ${b.words}`).toBe(true);
      }
    }
  });

  it("are drawn only when asked for", () => {
    const count = (name?: "names" | "centres" | "markers"): number =>
      draw(block(), at(0), (made) => {
        if (name) made.options[name] = true;
      }).inks.length;
    const plain = count();
    for (const name of ["names", "centres", "markers"] as const) {
      expect(count(name), name).toBeGreaterThan(plain);
    }
  });
});

describe("a run that has hardly begun", () => {
  it("is drawn without complaint", () => {
    const recipe = block();
    const nothing = Object.fromEntries(
      Object.keys(recipe.columns!).map((name) => [name, NaN]),
    );
    const { inks } = draw({ ...recipe, t: [0], columns: nothing, arcs: [0, 1] });
    expect(inks.length).toBeGreaterThan(0);
  });
});

describe("lines and numbers", () => {
  it("clips a line to the canvas", () => {
    expect(clip(50, 50, 1, 0, -Infinity, Infinity, 200, 100)).toEqual([-50, 150]);
    expect(clip(50, 50, 0, -1, -Infinity, Infinity, 200, 100)).toEqual([-50, 50]);
    expect(clip(50, 50, 1, 0, 0, 20, 200, 100)).toEqual([0, 20]);
    expect(clip(50, 150, 1, 0, -Infinity, Infinity, 200, 100)).toBeNull();
    const s = Math.SQRT1_2;
    const [from, to] = clip(0, 0, s, s, -Infinity, Infinity, 200, 100)!;
    expect(from).toBeCloseTo(0, 12);
    expect(to).toBeCloseTo(100 * Math.SQRT2, 9);
  });

  it("rounds distances of the grid up to 1, 2, 5", () => {
    expect([0.9, 1.5, 2.5, 6, 0.03].map(roundUp).map((x) => x.toPrecision(3))).toEqual([
      "1.00",
      "2.00",
      "5.00",
      "10.0",
      "0.0500",
    ]);
  });
});

describe("themes", () => {
  it("a dark one has light bodies on dark paper, and the same modes", () => {
    const { inks } = draw(block(), at(1, "after"), (made) => made.setTheme("dark"));
    const colours = new Set(inks.map((ink) => ink.colour));
    expect(inks[0]!.colour).toBe(THEMES.dark.paper);
    expect(colours.has("#0072B2")).toBe(false);
    expect(colours.has(MODES.stick)).toBe(true);
    expect(colours.has(THEMES.dark.normal)).toBe(true);
  });

  it.each(["light", "dark"] as const)(
    "what is drawn can be seen on %s paper",
    (name) => {
      const { paper, ...rest } = THEMES[name];
      for (const key of [
        "ink",
        "drive",
        "load",
        "spring",
        "normal",
        "friction",
      ] as const) {
        // 3 to 1 is what WCAG 2 asks of graphics.
        expect(contrast(rest[key], paper), key).toBeGreaterThan(3);
      }
      expect(contrast(rest.pale, paper)).toBeGreaterThan(3);
    },
  );
});

/** Contrast of two colours as WCAG 2 defines it. */
function contrast(a: string, b: string): number {
  const light = (colour: string): number => {
    const [r, g, b] = [1, 3, 5].map((k) => {
      const c = parseInt(colour.slice(k, k + 2), 16) / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high! + 0.05) / (low! + 0.05);
}
