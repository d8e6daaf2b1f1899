// @vitest-environment node
/** A run at any instant, against closed forms. */

import { describe, expect, it } from "vitest";
import type { Spot } from "../src/format";
import { Run, toGlobal } from "../src/run";
import { block, makeBody, makeDocument, makeRun, motion } from "./make";

const EPS = 6e-8; // rounding of float32, relative

describe("locate", () => {
  const run = makeRun(block());

  it("finds the part of an interval", () => {
    expect(run.locate({ t: 0.25, side: "after" })).toEqual({
      i: 0,
      part: 0.5,
      t: 0.25,
    });
    expect(run.locate({ t: 0.25, side: "before" })).toEqual({
      i: 0,
      part: 0.5,
      t: 0.25,
    });
  });

  it("finds both sides of an event", () => {
    expect(run.locate({ t: 1, side: "before" })).toEqual({ i: 2, part: 0, t: 1 });
    expect(run.locate({ t: 1, side: "after" })).toEqual({ i: 3, part: 0, t: 1 });
  });

  it("is bounded by the run", () => {
    expect(run.locate({ t: -5, side: "after" })).toEqual({ i: 0, part: 0, t: 0 });
    expect(run.locate({ t: 9, side: "before" })).toEqual({ i: 6, part: 0, t: 3 });
    expect(run.locate({ t: NaN, side: "after" }).i).toBe(0);
  });

  it("has two sides at events at the ends, and skips what lies between two", () => {
    const ends = makeRun({ t: [0, 0, 1, 1, 1], columns: { q: [1, 2, 3, 4, 5] } });
    const at = (t: number, side: "before" | "after") =>
      ends.value("q", ends.locate({ t, side }));
    expect([at(0, "before"), at(0, "after")]).toEqual([1, 2]);
    expect([at(1, "before"), at(1, "after")]).toEqual([3, 5]);
  });

  it("works for a run of one sample", () => {
    const one = makeRun({ t: [2], columns: { q: [7] } });
    for (const side of ["before", "after"] as const) {
      for (const t of [1, 2, 3]) expect(one.locate({ t, side }).i).toBe(0);
    }
  });
});

describe("far away", () => {
  const t = [0, 1];
  const { header, arrays } = makeDocument({
    t,
    bodies: [makeBody("car")],
    columns: motion("car", [0.25, 0.5], 0, 0, { vx: 0.25 }),
    derived: [
      {
        name: "car.tip.x",
        unit: "m",
        body: "car",
        point: [0.125, 0],
        quantity: "x",
      },
    ],
  });
  const columns = header.columns.map((column) =>
    column.name === "car.x" ? { ...column, origin: 1e9 } : column,
  );
  const run = new Run({ header: { ...header, columns }, arrays });

  it("bodies and their points keep what they move", () => {
    const place = run.locate({ t: 0.5, side: "after" });
    expect(run.pose("car", place).x).toBe(1e9 + 0.375);
    expect([...run.column("car.tip.x")]).toEqual([1e9 + 0.375, 1e9 + 0.625]);
    expect(run.value("car.tip.x", place)).toBe(1e9 + 0.5);
  });
});

describe("value", () => {
  const run = makeRun(block());

  it("lies on the line between samples", () => {
    const place = run.locate({ t: 0.25, side: "after" });
    expect(run.value("block.x", place)).toBe(0.25);
  });

  it("differs between the sides of an event", () => {
    expect(run.value("sole.normal_force", run.locate({ t: 1, side: "before" }))).toBe(
      10,
    );
    expect(run.value("sole.normal_force", run.locate({ t: 1, side: "after" }))).toBe(
      20,
    );
  });

  it("of a mode holds still between samples", () => {
    const steps = makeRun({ t: [0, 1], columns: { "a.mode": [0, 2] } });
    expect(steps.isStepped("a.mode")).toBe(true);
    expect(steps.value("a.mode", steps.locate({ t: 0.9, side: "after" }))).toBe(0);
  });

  it("names the quantity it does not have", () => {
    expect(() => run.column("nothing")).toThrow("no quantity 'nothing'");
  });
});

describe("pose", () => {
  it("follows a cubic exactly", () => {
    // q = t^3 - t on [0, 2]: cubics are what the interpolation reproduces.
    const t = [0, 2];
    const run = makeRun({
      t,
      bodies: [makeBody("p")],
      columns: motion(
        "p",
        t.map((s) => s ** 3 - s),
        0,
        0,
        { vx: t.map((s) => 3 * s ** 2 - 1) },
      ),
    });
    for (const s of [0.1, 0.7, 1, 1.9]) {
      const { x } = run.pose("p", run.locate({ t: s, side: "after" }));
      // Rounding of numbers up to 11 * 2.
      expect(Math.abs(x - (s ** 3 - s))).toBeLessThan(22 * EPS);
    }
  });

  it("of a fixed body is the origin", () => {
    const run = makeRun(block());
    const place = run.locate({ t: 0.3, side: "after" });
    expect(run.pose("ground", place)).toEqual({ x: 0, y: 0, theta: 0 });
  });
});

describe("derive", () => {
  // A body turns about the origin at rate w, growing: theta = w t + a t^2 / 2, with its
  // mass centre at rest; its point at (r, 0) runs on a circle.
  const [w, a, r] = [2, 3, 0.5];
  const t = [0, 0.2, 0.5, 1.1];
  const theta = t.map((s) => w * s + (a * s * s) / 2);
  const omega = t.map((s) => w + a * s);
  const quantities = ["x", "y", "vx", "vy", "ax", "ay"] as const;
  const run = makeRun({
    t,
    bodies: [makeBody("wheel")],
    columns: {
      ...motion("wheel", 1, 2, theta, { omega }),
      "wheel.ax": 0,
      "wheel.ay": 0,
      "wheel.alpha": a,
    },
    derived: quantities.map((quantity) => ({
      name: `wheel.rim.${quantity}`,
      unit: "m",
      body: "wheel",
      point: [r, 0],
      quantity,
    })),
  });

  it("gives place, velocity and acceleration of a point on a circle", () => {
    t.forEach((_, i) => {
      const [c, s, o] = [Math.cos(theta[i]!), Math.sin(theta[i]!), omega[i]!];
      const expected = {
        x: 1 + r * c,
        y: 2 + r * s,
        vx: -r * o * s,
        vy: r * o * c,
        ax: -r * a * s - r * o * o * c,
        ay: r * a * c - r * o * o * s,
      };
      for (const quantity of quantities) {
        const found = run.column(`wheel.rim.${quantity}`)[i]!;
        // Rounding of theta (up to 4) times the largest derivative, r o^2 < 15, and
        // of omega (up to 5.3) times 2 r o: less than 100 units of rounding.
        expect(Math.abs(found - expected[quantity]), quantity).toBeLessThan(100 * EPS);
      }
    });
  });

  it("offers the point's quantities to plots, not hidden ones", () => {
    expect(run.names).toContain("wheel.rim.ax");
    expect(makeRun(block()).names).not.toContain("sole.nx");
  });
});

describe("mode", () => {
  it("has a word for each code", () => {
    const run = makeRun({
      t: [0, 1, 2, 3, 4],
      columns: { "c.mode": [0, 1, -1, 2, 3] },
    });
    const words = (canStick: boolean) =>
      [0, 1, 2, 3, 4].map((i) => run.mode("c.mode", canStick, { i, part: 0, t: i }));
    expect(words(true)).toEqual(["stick", "slip+", "slip-", "open", "released"]);
    expect(words(false).slice(3)).toEqual(["open", "released"]);
    expect(new Set(words(false).slice(0, 3))).toEqual(new Set(["pressing"]));
  });
});

describe("toGlobal", () => {
  it("turns, then moves", () => {
    const [x, y] = toGlobal({ x: 1, y: 2, theta: Math.PI / 2 }, [3, 0]);
    // cos(pi / 2) is 6e-17.
    expect(Math.abs(x - 1)).toBeLessThan(1e-15);
    expect(y).toBe(5);
  });
});

describe("slip", () => {
  it("is of what presses", () => {
    const spot = {
      name: "sole",
      element: "sole",
      family: "contact",
      mode: "sole.mode",
    } as unknown as Spot;
    const run = makeRun({
      t: [0, 1, 2, 3, 4],
      columns: { "sole.slip_velocity": [1, 2, 0, 4, 5], "sole.mode": [1, -1, 0, 2, 3] },
      spots: [spot],
    });
    const slip = [...run.column("sole.slip_velocity")];
    expect(slip).toEqual([1, 2, 0, NaN, NaN]);
  });
});
