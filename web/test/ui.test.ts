// @vitest-environment node
/** The parts of the viewer that compute. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Run } from "../src/run";
import { timeTicks, ticks } from "../src/ui/axis";
import { Clock, SPEEDS, decimals, defaultSpeed, speedLabel } from "../src/ui/clock";
import { cell, eventsCsv, fileName, float32Text, samplesCsv } from "../src/ui/csv";
import { EventList, eventLine, modeChange } from "../src/ui/events";
import { action } from "../src/ui/keys";
import { modeLane, visibleSpans, visibleTicks } from "../src/ui/lanes";
import { ledger, stack } from "../src/ui/ledger";
import { window } from "../src/ui/list";
import { bothSides, duration, plain, shown } from "../src/ui/numbers";
import { grouped } from "../src/ui/picker";
import { defaultPlots, place, sides } from "../src/ui/plots";
import { cleaned, isStill, roundOff } from "../src/ui/round";
import {
  bounds,
  decimate,
  differenceOf,
  jumps,
  lineOf,
  padded,
  seriesOf,
  steps,
} from "../src/ui/series";
import { fromObject, fromText, toText, type ViewerState } from "../src/ui/state";
import { unitText } from "../src/ui/units";
import { pinched, shifted, zoomed } from "../src/ui/fingers";
import { block, makeDocument, makeRun } from "./make";

const packed = readFileSync(new URL("./fixtures/belt.scene", import.meta.url));
const belt = await Run.read(new Uint8Array(packed));

// A saw: arcs of 100 samples that rise from k to k + 1 and then fall to zero.
function saw(arcs: number, perArc = 100) {
  const t: number[] = [];
  const y: number[] = [];
  const starts: number[] = [];
  for (let k = 0; k < arcs; k++) {
    starts.push(t.length);
    for (let i = 0; i < perArc; i++) {
      t.push(k + i / (perArc - 1));
      y.push(i / (perArc - 1));
    }
  }
  return { t: Float64Array.from(t), y: Float32Array.from(y), starts };
}

function pieces(y: Float64Array): number[][] {
  const out: number[][] = [[]];
  for (const value of y) {
    if (Number.isNaN(value)) out.push([]);
    else out.at(-1)!.push(value);
  }
  return out;
}

describe("lines of plots", () => {
  it("are broken at jumps and keep both one-sided values", () => {
    const { t, y, starts } = saw(5);
    const line = decimate(t, y, starts, 0, 5, 2000);
    const parts = pieces(line.y);
    expect(parts.length).toBe(5);
    for (const part of parts) {
      expect(part[0]).toBe(0);
      expect(part.at(-1)).toBe(1);
    }
  });

  it("keep jumps when there are far more samples than pixels", () => {
    const { t, y, starts } = saw(5, 20_000);
    const line = decimate(t, y, starts, 0, 5, 100);
    const parts = pieces(line.y);
    expect(parts.length).toBe(5);
    for (const part of parts) expect([part[0], part.at(-1)]).toEqual([0, 1]);
    // At most four points per column and arc, and one break per arc.
    expect(line.x.length).toBeLessThanOrEqual(4 * (100 + 5 + 1) + 5);
  });

  it("keep every extreme: a peak of one sample is in the line", () => {
    const n = 200_000;
    const t = Float64Array.from({ length: n }, (_, i) => i / (n - 1));
    const y = Float32Array.from({ length: n }, (_, i) => Math.sin(i));
    y[123_457] = 50;
    y[77_777] = -60;
    const line = decimate(t, y, [0], 0, 1, 600);
    expect(Math.max(...line.y)).toBe(50);
    expect(Math.min(...line.y)).toBe(-60);
    expect(line.x[line.y.indexOf(50)]).toBe(t[123_457]);
    expect(line.x.length).toBeLessThanOrEqual(4 * 601);
  });

  it("stay short with many arcs in a column", () => {
    const { t, y, starts } = saw(20_000, 3);
    const line = decimate(t, y, starts, 0, 20_000, 500);
    expect(line.x.length).toBeLessThanOrEqual(5 * 501);
    expect(Math.max(...line.y.filter((v) => !Number.isNaN(v)))).toBe(1);
  });

  it("go through all samples when these are few, in order", () => {
    const { t, y, starts } = saw(1, 7);
    const line = decimate(t, y, starts, 0, 1, 1000);
    expect([...line.x]).toEqual([...t]);
    expect([...line.y]).toEqual([...y]);
  });

  it("take one sample more on either side of what is seen", () => {
    const { t, y, starts } = saw(1, 101);
    const line = decimate(t, y, starts, 0.305, 0.395, 1000);
    expect(line.x[0]).toBe(0.3);
    expect(line.x.at(-1)).toBe(0.4);
  });

  it("are not broken where nothing jumps", () => {
    const t = Float64Array.from([0, 1, 1, 2]);
    const line = decimate(t, Float32Array.from([0, 1, 1, 2]), [0, 2], 0, 2, 100);
    expect(line.y.some(Number.isNaN)).toBe(false);
  });

  it("of modes are steps", () => {
    const t = Float64Array.from([0, 1, 1, 2]);
    const line = steps(t, Int8Array.from([1, 1, 0, 0]), 0, 2);
    expect([...line.x]).toEqual([0, 1, 1, 2]);
    expect([...line.y]).toEqual([1, 1, 0, 0]);
  });

  it("jump by friction of belt and block from 3.924 to 2.943 N", () => {
    const found = jumps(seriesOf(belt, "sole.friction_force"), 0, 5, 0.01);
    expect(found.length).toBe(belt.header.events.rows.length);
    // mu0 m g and mu m g, to the rounding of float32.
    expect(Math.abs(found[0]!.before - 0.4 * 9.81)).toBeLessThan(4 * 6e-8);
    expect(Math.abs(found[0]!.after - 0.3 * 9.81)).toBeLessThan(4 * 6e-8);
    const line = lineOf(seriesOf(belt, "sole.friction_force"), 0, 5, 1000);
    expect(pieces(line.y).length).toBe(found.length + 1);
  });

  it("have bounds that count where a line leaves the range", () => {
    const line = { x: Float64Array.from([0, 10]), y: Float64Array.from([0, 100]) };
    expect(bounds([line], 2, 3)).toEqual([20, 30]);
    expect(bounds([], 0, 1)).toBeNull();
  });

  it("get a range that does not show round-off", () => {
    const [low, high] = padded([9.81, 9.81 * (1 + 1e-7)]);
    expect(low).toBe(0);
    expect(high).toBeGreaterThan(9.81);
    expect(padded([0, 0])).toEqual([-1, 1]);
    // Beside a picture of 1 m, 0.4 m is not round-off, even at 1000 km.
    expect(padded([1e6, 1e6 + 0.4], 0, 1)[0]).toBeCloseTo(1e6 - 0.024, 6);
    expect(padded([1e6, 1e6 + 1e-6], 0, 1)[0]).toBe(0);
    const [l, h] = padded([0, 1]);
    expect(l).toBeLessThan(0);
    expect(h).toBeGreaterThan(1);
  });
});

describe("values at an instant", () => {
  const run = makeRun(block());

  it("are two at an event, one elsewhere", () => {
    expect(sides(run, "sole.friction_force", 1)).toEqual({ before: -3, after: 2 });
    expect(sides(run, "sole.friction_force", 0.7)).toEqual({ before: -3, after: -3 });
  });

  it("are written with an arrow where they differ", () => {
    expect(bothSides(-3, 2, "N")).toBe("−3 → 2 N");
    expect(bothSides(2, 2, "N")).toBe("2 N");
    expect(bothSides(1e6 + 0.25, 1e6 + 0.25, "m", 10)).toBe("1000000.250 m");
  });

  it("are zero where they are round-off", () => {
    const columns = {
      "a.theta": { values: [0, 5], unit: "rad" },
      "b.theta": { values: [1e-16, 3e-16], unit: "rad" },
      "b.gap": { values: [1e-16, 3e-16], unit: "m" },
    };
    const run = makeRun({ columns });
    // Beside its own largest value, and beside the largest of its unit.
    expect(cleaned(1e-17, roundOff(run, "a.theta"))).toBe(0);
    expect(cleaned(1e-5, roundOff(run, "a.theta"))).toBe(1e-5);
    expect(cleaned(3e-16, roundOff(run, "b.theta"))).toBe(0);
    expect(cleaned(3e-16, roundOff(run, "b.gap"))).toBe(3e-16);
    expect(isStill(run, "b.theta")).toBe(true);
    expect(isStill(run, "b.gap")).toBe(false);
    expect(padded([0, 3e-16], roundOff(run, "b.theta"))).toEqual([-1, 1]);
  });

  it("read well", () => {
    expect(shown(1.23456e-7)).toBe("1.235·10⁻⁷");
    expect(shown(-0.5)).toBe("−0.5000");
    expect(shown(123456)).toBe("1.235·10⁵");
    expect(shown(NaN)).toBe("–");
    expect(plain(0.018)).toBe("0.018");
    expect(plain(3.1e6)).toBe("3.1·10⁶");
    expect(plain(1e-8)).toBe("1·10⁻⁸");
    expect(unitText("m/s^2")).toBe("m/s²");
    expect(unitText("1")).toBe("");
    expect(duration(0.05)).toBe("50 ms");
    expect(duration(1e-6)).toBe("1 µs");
  });
});

describe("panels", () => {
  const unit = (name: string) => (name.startsWith("f") ? "N" : "m");

  it("take a quantity of their unit, else there is a new one", () => {
    const plots = [["f1"], ["x1"]];
    place(plots, "x2", 0, unit, () => false);
    expect(plots).toEqual([["f1"], ["x1", "x2"]]);
    place(plots, "f2", 0, unit, () => false);
    expect(plots).toEqual([
      ["f1", "f2"],
      ["x1", "x2"],
    ]);
    place(plots, "mode", -1, unit, (name) => name === "mode");
    expect(plots.length).toBe(3);
  });

  it("show forces, friction and slip first where there are contacts", () => {
    expect(defaultPlots(belt)).toEqual([
      ["sole.normal_force"],
      ["sole.friction_force"],
      ["sole.slip_velocity"],
    ]);
  });

  it("are those that the model wishes for, as far as there are", () => {
    const columns = { "p.x": [0, 1], "p.theta": [0, 1], "p.omega": [0, 1] };
    const plots = [["p.x", "gone.x"], ["gone.y"], ["p.omega"]];
    expect(defaultPlots(makeRun({ columns, plots }))).toEqual([["p.x"], ["p.omega"]]);
  });

  it("show motion where there are none", () => {
    const run = makeRun({ columns: { "p.theta": { values: [0, 1], unit: "rad" } } });
    expect(defaultPlots(run)[0]).toEqual(["p.theta"]);
  });

  it("leave out what stands still", () => {
    const motion = (name: string, values: number[], unit: string) => ({
      [`p.${name}`]: { values, unit },
    });
    const falling = {
      ...motion("x", [0, 0], "m"),
      ...motion("y", [0, -1], "m"),
      ...motion("theta", [0, 0], "rad"),
      ...motion("vy", [0, -2], "m/s"),
      ...motion("omega", [0, 0], "rad/s"),
    };
    expect(defaultPlots(makeRun({ columns: falling }))).toEqual([["p.y"], ["p.vy"]]);
    // Something is shown even if nothing moves.
    const resting = motion("theta", [1, 1], "rad");
    expect(defaultPlots(makeRun({ columns: resting }))).toEqual([["p.theta"]]);
  });

  it("are searched by words, grouped by element", () => {
    const names = ["left.normal_force", "left.gap", "right.normal_force"];
    expect(grouped(names, "left force")).toEqual([
      { element: "left", names: ["left.normal_force"] },
    ]);
    expect(grouped(names, "").map((group) => group.element)).toEqual(["left", "right"]);
    expect(grouped(names, "nothing")).toEqual([]);
  });

  it("of the ledger are apart from an element of the same name", () => {
    const names = ["work.x", "work:motor", "energy:kinetic", "work:sole.normal"];
    expect(grouped(names, "")).toEqual([
      { element: "work", names: ["work.x"] },
      { element: "work", names: ["work:motor", "work:sole.normal"] },
      { element: "energy", names: ["energy:kinetic"] },
    ]);
  });
});

describe("the energy ledger", () => {
  it("closes: the top of the stack is what was there and supplied", () => {
    const book = ledger(belt)!;
    const { tops, given } = stack(belt, book, 0, 5, 400);
    const top = tops.at(-1)!;
    let worst = 0;
    for (let i = 0; i < top.length; i++) {
      worst = Math.max(worst, Math.abs(top[i]! - given[i]!));
    }
    // Rounding of float32 in each term, of at most 1.5 J, and the run's own residual.
    const terms = book.layers.length + book.supplies.length + 2;
    const size = Math.max(...given);
    expect(worst).toBeLessThan(terms * 6e-8 * size + belt.header.run.energy_residual!);
    expect(size).toBeGreaterThan(1);
  });

  it("names who took and who gave", () => {
    const book = ledger(belt)!;
    expect(book.layers.map((layer) => layer.label)).toEqual([
      "kinetic",
      "potential",
      "sole.friction",
    ]);
    expect(book.supplies).toEqual(["work:belt"]);
  });

  it("puts potential energy above its least", () => {
    const run = makeRun({
      t: [0, 1],
      columns: {
        "energy:kinetic": [0, 30],
        "energy:potential": [-10, -40],
      },
    });
    const { tops, given } = stack(run, ledger(run)!, 0, 1, 10);
    expect([...tops[1]!]).toEqual([30, 30]);
    expect([...given]).toEqual([30, 30]);
  });

  it("is left out where there are no energies", () => {
    expect(ledger(makeRun())).toBeNull();
  });
});

describe("events", () => {
  const events = new EventList(makeRun(block()));

  it("are stepped through one instant at a time", () => {
    expect(events.next(-1)).toBe(1);
    expect(events.next(1)).toBe(2);
    expect(events.next(2)).toBeNull();
    expect(events.previous(2)).toBe(1);
    expect(events.previous(1)).toBeNull();
    expect(events.isAt(1)).toBe(true);
    expect(events.isAt(1.1)).toBe(false);
    expect(events.separation(1)).toBe(1);
  });

  it("know the last one before a time", () => {
    expect(events.current(0.5)).toBe(-1);
    expect(events.current(1)).toBe(0);
    expect(events.current(7)).toBe(1);
  });

  it("of one instant are one step, shown by the first", () => {
    const recipe = block();
    recipe.events!.rows.push([2, "other", "impact", "", ""]);
    const list = new EventList(makeRun(recipe));
    expect([...list.instants]).toEqual([1, 2]);
    expect(list.current(2)).toBe(1);
  });

  it("take the time of the arc they begin", () => {
    const recipe = block();
    recipe.events!.rows[0]![0] = 1 + 2e-16;
    expect(new EventList(makeRun(recipe)).isAt(1)).toBe(true);
  });

  it("of the belt lie at samples with two sides", () => {
    for (const t of new EventList(belt).instants) {
      const before = belt.locate({ t, side: "before" });
      const after = belt.locate({ t, side: "after" });
      expect(after.i).toBe(before.i + 1);
    }
  });

  it("say what changed", () => {
    expect(modeChange(events.rows[0]!)).toBe("slip+ → stick");
    expect(eventLine(events.rows[0]!)).toBe("sole: stick, slip+ → stick");
    const plain = { ...events.rows[0]!, kind: "touch_down", values: {} };
    expect(eventLine(plain)).toBe("sole: touch down");
    const list = new EventList(belt);
    expect(list.pair(list.rows[0]!, "friction_force")).toBe("3.924 → 2.943");
    expect(list.pair(list.rows[0]!, "slip_velocity")).toBe("0");
  });
});

describe("time", () => {
  it("runs about ten seconds at the default speed, real time at most", () => {
    expect(defaultSpeed(10)).toBe(1);
    expect(defaultSpeed(1000)).toBe(1);
    expect(defaultSpeed(0.5)).toBe(0.05);
    expect(defaultSpeed(3e-4)).toBe(2e-5);
    expect(defaultSpeed(1e-9)).toBe(1e-6);
    expect(defaultSpeed(0)).toBe(1);
    for (const seconds of [0.01, 0.3, 2, 7]) {
      const onScreen = seconds / defaultSpeed(seconds);
      // Neighbours in the list are a factor of 2.5 apart at most.
      expect(onScreen).toBeGreaterThan(10 / Math.sqrt(2.5) - 1e-9);
      expect(onScreen).toBeLessThan(10 * Math.sqrt(2.5) + 1e-9);
    }
  });

  it("has speeds from ten times to a millionth", () => {
    expect(Math.max(...SPEEDS)).toBe(10);
    expect(Math.min(...SPEEDS)).toBe(1e-6);
    expect(speedLabel(1e-6)).toBe("1e-6× · 1 µs/s");
    expect(speedLabel(0.05)).toBe("0.05× · 50 ms/s");
  });

  it("advances by speed times wall time, however many frames there are", () => {
    const clock = new Clock(2, 1e-6);
    clock.play(100);
    for (let k = 1; k <= 1000; k++) clock.at(100 + k / 60);
    // One multiplication and one addition, rounded.
    expect(clock.at(160)).toBe(2 + 1e-6 * 60);
    clock.setSpeed(0.5, 160);
    expect(clock.at(164)).toBe(2 + 1e-6 * 60 + 2);
    clock.pause(164);
    expect(clock.at(999)).toBe(2 + 1e-6 * 60 + 2);
    expect(clock.isPlaying).toBe(false);
  });

  it("is written so that neighbours differ", () => {
    const [a, b] = [0.1234567, 0.1234568];
    const digits = decimals(b - a);
    expect(a.toFixed(digits)).not.toBe(b.toFixed(digits));
    expect(decimals(10)).toBe(3);
    expect(decimals(0)).toBe(12);
  });

  it("is zoomed about a point, within the run", () => {
    const all: [number, number] = [0, 10];
    expect(zoomed(all, 5, 0.5, all)).toEqual([2.5, 7.5]);
    expect(zoomed([2, 4], 2, 2, all)).toEqual([2, 6]);
    expect(zoomed([2, 4], 3, 100, all)).toBeNull();
    const [from, to] = zoomed(all, 5, 1e-30, all)!;
    expect(to).toBeGreaterThan(from);
  });

  it("keeps times under two fingers", () => {
    const all: [number, number] = [0, 10];
    // On 100 px, 2 s and 4 s are taken from 20 and 40 px to 20 and 60 px.
    const [from, to] = pinched(all, [20, 40], [20, 60], 100, all)!;
    expect(from + 0.2 * (to - from)).toBeCloseTo(2, 12);
    expect(from + 0.6 * (to - from)).toBeCloseTo(4, 12);
    // Together again, all is seen; it does not matter which finger came first.
    expect(pinched([from, to], [60, 20], [40, 20], 100, all)).toBeNull();
    expect(pinched(all, [20, 40], [40, 20], 100, all)).toBeUndefined();
    expect(pinched(all, [20, 40], [20, 25], 100, all)).toBeUndefined();
  });

  it("moves within the run", () => {
    expect(shifted([2, 4], 3, [0, 10])).toEqual([5, 7]);
    expect(shifted([2, 4], 30, [0, 10])).toEqual([8, 10]);
    expect(shifted([0, 4], -1, [0, 10])).toBeNull();
  });

  it("has round numbers along its axis", () => {
    expect(ticks(0, 0.5, 5).labels).toEqual(["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
    expect(ticks(-1, 1, 2).labels).toEqual(["−1", "0", "1"]);
    const near = ticks(1.0000001, 1.0000002, 4);
    expect(new Set(near.labels).size).toBe(near.values.length);
    expect(near.values.length).toBeGreaterThan(1);
    expect(ticks(1, 1, 5).values).toEqual([]);
  });

  it("writes what fits beside it, far from zero", () => {
    const at = (low: number, high: number) => ticks(low, high, 4, 9).labels;
    expect(ticks(1e6 + 0.05, 1e6 + 0.25, 2, 8).labels).toEqual(["≈1000000", "+0.1"]);
    expect(at(1e6 + 0.05, 1e6 + 0.42)).toEqual(["1000000.1", "+0.1", "+0.2", "+0.3"]);
    expect(at(1e6 - 0.12, 1e6 + 0.12)).toEqual(["−0.1", "1000000", "+0.1"]);
    expect(at(0, 1.2e6)).toEqual(["0", "5.0e5", "1.0e6"]);
    for (const size of [1, 1e3, 1e5, 1e7, 1e10]) {
      for (const width of [1e-6, 1e-3, 1, 10]) {
        const labels = at(-size, -size + width * size);
        expect(Math.max(...labels.map((text) => text.length))).toBeLessThan(10);
        expect(new Set(labels).size).toBe(labels.length);
      }
    }
  });
});

describe("the timeline", () => {
  it("shows modes as spans", () => {
    const run = makeRun(block());
    const lane = modeLane(run, run.header.spots[0]!);
    expect([...lane.starts]).toEqual([0, 1, 2]);
    expect(lane.modes).toEqual(["slip+", "stick", "open"]);
    expect(visibleSpans(lane, 0, 3, 300)).toEqual([
      { from: 0, to: 100, mode: "slip+" },
      { from: 100, to: 200, mode: "stick" },
      { from: 200, to: 300, mode: "open" },
    ]);
    expect(visibleSpans(lane, 1.5, 1.6, 100)).toEqual([
      { from: 0, to: 100, mode: "stick" },
    ]);
  });

  it("has at most one tick per pixel and kind, with 20 000 events", () => {
    const times = Float64Array.from({ length: 20_000 }, (_, k) => k / 20_000);
    const seen = visibleTicks(times, 0, 1, 800);
    expect(seen.length).toBeLessThanOrEqual(801);
    expect(new Set(seen).size).toBe(seen.length);
    expect(visibleTicks(times, 0.5, 0.5005, 800).length).toBe(11);
  });

  it("has at most about two spans per pixel", () => {
    const lane = {
      name: "c",
      starts: Float64Array.from({ length: 20_000 }, (_, k) => k / 20_000),
      modes: Array.from({ length: 20_000 }, (_, k) => (k % 2 ? "stick" : "open")),
      end: 1,
    };
    const spans = visibleSpans(lane, 0, 1, 500);
    expect(spans.length).toBeLessThanOrEqual(1001);
    expect(spans.at(-1)!.to).toBeGreaterThanOrEqual(499);
  });
});

describe("the list of events", () => {
  it("builds only rows in sight", () => {
    const [first, end] = window(10_000 * 30, 600, 30, 20_000);
    expect(first).toBeLessThanOrEqual(10_000);
    expect(end).toBeGreaterThanOrEqual(10_020);
    expect(end - first).toBeLessThan(40);
    expect(window(0, 600, 30, 5)).toEqual([0, 5]);
    expect(window(0, 600, 30, 0)).toEqual([0, 0]);
    expect(window(1e9, 600, 30, 100)).toEqual([100, 100]);
  });
});

describe("tables as text", () => {
  const run = makeRun(block());

  it("have both rows of an event, with their side", () => {
    const lines = samplesCsv(run, ["sole.normal_force", "sole.mode"])
      .trim()
      .split("\n");
    expect(lines[0]).toBe("t [s],side,sole.normal_force [N],sole.mode");
    expect(lines.slice(3, 5)).toEqual(["1,before,10,1", "1,after,20,0"]);
    expect(lines[1]).toBe("0,,10,1");
    expect(lines.length).toBe(1 + run.t.length);
  });

  it("read back give the same float32", () => {
    const column = belt.column("block.x");
    const lines = samplesCsv(belt, ["block.x"]).trim().split("\n").slice(1);
    lines.forEach((line, i) => {
      const [t, , x] = line.split(",");
      expect(Number(t)).toBe(belt.t[i]);
      expect(Math.fround(Number(x))).toBe(column[i]);
    });
  });

  it("keep what moves far away", () => {
    const { header, arrays } = makeDocument({ columns: { q: [0.25, 0.375] } });
    const columns = header.columns.map((column) =>
      column.name === "q" ? { ...column, origin: 1e6 } : column,
    );
    const far = new Run({ header: { ...header, columns }, arrays });
    const lines = samplesCsv(far, ["q"]).trim().split("\n");
    expect(lines.slice(1)).toEqual(["0,,1000000.25", "1,,1000000.375"]);
  });

  it("write few digits", () => {
    expect(float32Text(Math.fround(0.1))).toBe("0.1");
    expect(float32Text(3)).toBe("3");
    expect(float32Text(NaN)).toBe("NaN");
  });

  it("have all fields of events, quoted where needed", () => {
    const events = new EventList(run);
    const text = eventsCsv(run.header.events.columns, events.rows);
    expect(text.split("\n")[1]).toBe("1,sole,stick,slip+,stick");
    expect(cell('a "b", c')).toBe('"a ""b"", c"');
    expect(cell(null)).toBe("");
  });

  it("have names made of the title", () => {
    expect(fileName("Block on a belt!", ".csv")).toBe("block-on-a-belt.csv");
    expect(fileName("…", ".csv")).toBe("run.csv");
  });
});

describe("a difference", () => {
  // x = t until an event at 1, where it jumps by 2; and x = 0.5 t without one.
  const one = makeRun({
    t: [0, 1, 1, 2],
    columns: { x: [0, 1, 3, 4] },
    arcs: [0, 2, 4],
  });
  const two = makeRun({ t: [0, 0.5, 3], columns: { x: [0, 0.25, 1.5] }, arcs: [0, 3] });

  it("has the samples of both, and the jumps", () => {
    const { t, y, arcs } = differenceOf(one, two, "x");
    expect([...t]).toEqual([0, 0.5, 1, 1, 2]);
    expect([...y]).toEqual([0, 0.25, 0.5, 2.5, 3]);
    expect(arcs).toEqual([0, 3, 5]);
    const found = jumps(differenceOf(one, two, "x"), 0, 3, 0.1);
    expect(found).toEqual([{ t: 1, before: 0.5, after: 2.5 }]);
    expect([...differenceOf(two, one, "x").y]).toEqual([...y].map((v) => 0 - v));
  });
});

describe("times along an axis", () => {
  it("have their unit", () => {
    expect(timeTicks(0, 2, 4).labels).toEqual(["0", "0.5", "1.0", "1.5", "2.0 s"]);
    expect(timeTicks(1, 1, 4).labels).toEqual([]);
  });
});

describe("the state as text", () => {
  const state: ViewerState = {
    t: 0.12345678901234567,
    side: "before",
    speed: 5e-4,
    plots: [["a.x", "odd, name; 5% & é"], ["b.y"]],
    options: { forces: true, trails: false },
    deformation: 250,
    field: "von Mises stress",
    tab: "energy",
    theme: "dark",
    range: [0.1, 0.30000000000000004],
    view: { x: -0.25, y: 1.5, scale: 120 },
    loop: true,
    difference: true,
  };

  it("comes back the same", () => {
    expect(fromText(`#${toText(state)}`)).toEqual(state);
  });

  it("has the middle of a picture far away", () => {
    const view = { x: 1e6 + 0.1234, y: 0, scale: 1000 };
    const found = fromText(toText({ view })).view!;
    // A hundredth of a pixel, half of it by rounding.
    expect(Math.abs(found.x - view.x) * view.scale).toBeLessThan(0.01);
  });

  it("may be in parts", () => {
    expect(fromText(toText({ t: 1 }))).toEqual({ t: 1 });
    expect(fromText("")).toEqual({});
    expect(fromText(toText({ plots: [] }))).toEqual({ plots: [] });
  });

  it("comes back from an object, as a notebook sends it", () => {
    expect(fromObject(JSON.parse(JSON.stringify(state)))).toEqual(state);
    expect(fromObject({ view: null, range: null })).toEqual({
      view: null,
      range: null,
    });
  });

  it("takes from an object only what makes sense", () => {
    const wrong = {
      t: "1",
      side: 3,
      speed: -1,
      plots: "a.x",
      options: { forces: 1, rm: true },
      tab: 2,
      theme: "blue",
      range: [3, 1],
      view: { x: 0, y: 0, scale: 0 },
      loop: 1,
    };
    expect(fromObject(wrong)).toEqual({ options: {} });
    expect(fromObject({ plots: ["a.x", ["b.y", 3], []] })).toEqual({
      plots: [["a.x"], ["b.y"]],
    });
    for (const nothing of [null, 3, "t=1", []]) expect(fromObject(nothing)).toEqual({});
  });

  it("leaves out what makes no sense", () => {
    const text =
      "t=soon&side=up&speed=-1&range=3~1&view=1~2~0&theme=red&show=forces,rm&x&tab=%E0%A4";
    expect(fromText(text)).toEqual({ options: { forces: true } });
  });
});

describe("keys", () => {
  const plainKey = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

  it("mean what the buttons say", () => {
    expect(action({ ...plainKey, key: " " })).toBe("toggle");
    expect(action({ ...plainKey, key: "ArrowRight" })).toBe("forward");
    expect(action({ ...plainKey, shiftKey: true, key: "ArrowRight" })).toBe("next");
    expect(action({ ...plainKey, shiftKey: true, key: "ArrowLeft" })).toBe("previous");
    expect(action({ ...plainKey, key: "," })).toBe("previous");
    expect(action({ ...plainKey, key: "Home" })).toBe("begin");
    expect(action({ ...plainKey, shiftKey: true, key: "+" })).toBe("in");
    expect(action({ ...plainKey, key: "x" })).toBeNull();
  });

  it("of the browser stay the browser's", () => {
    expect(action({ ...plainKey, ctrlKey: true, key: "f" })).toBeNull();
    expect(action({ ...plainKey, metaKey: true, key: "-" })).toBeNull();
  });
});
