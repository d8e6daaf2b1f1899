// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";
import type { Block, Body, Document, Mesh } from "../src/format";
import { Run } from "../src/run";
import { Frame } from "../src/scene/frame";
import { fieldsOf, SHADES, Skin } from "../src/scene/mesh";
import { Scene } from "../src/scene/scene";
import { Deformed } from "../src/ui/deformed";
import { FakeCanvas } from "./canvas";
import { GROUND, makeDocument } from "./make";

/** Add numbers of two bytes to the arrays of a document. */
function block(document: Document, numbers: number[], step?: number): Block {
  const whole = numbers.map((x) => Math.round(x / (step ?? 1)));
  const bytes = new Uint8Array(
    step === undefined ? Uint16Array.from(whole).buffer : Int16Array.from(whole).buffer,
  );
  const n = whole.length;
  const offset = document.arrays.length;
  const arrays = new Uint8Array(offset + 2 * n);
  arrays.set(document.arrays);
  // First bytes first.
  for (let i = 0; i < n; i++) {
    arrays[offset + i] = bytes[2 * i]!;
    arrays[offset + n + i] = bytes[2 * i + 1]!;
  }
  document.arrays = arrays;
  const type = step === undefined ? "u16" : "i16";
  return { type, offset, length: 2 * n, ...(step === undefined ? {} : { step }) };
}

/** A square of 1 m that is held at (2, 3), turned by 90 degrees; x grows with time. */
function square(): Run {
  const document = makeDocument({
    t: [0, 1],
    columns: { "b:shape.0": { values: [0, 0.5], hidden: true } },
    box: [0, 0, 4, 4],
    enlarged: 20,
  });
  const mesh: Mesh = {
    kind: "mesh",
    nodes: block(document, [0, 0, 1, 0, 1, 1, 0, 1], 1e-3),
    triangles: block(document, [0, 1, 2, 0, 2, 3]),
    sides: block(document, [0, 1, 1, 2, 2, 3, 0, 3, 0, 2]),
    rims: [[0, 1, 2, 3]],
    sites: { tip: 2 },
    coordinates: ["b:shape.0"],
    fields: [
      {
        name: "displacement",
        unit: "m",
        n_component: 2,
        // Node k moves by 0.01 k along x for a unit of the coordinate.
        shapes: block(document, [0, 0, 0.01, 0, 0.02, 0, 0.03, 0], 1e-5),
        across: 0,
        range: [0, 0.017],
      },
      {
        name: "stress",
        unit: "Pa",
        n_component: 3,
        shapes: block(document, Array<number>(12).fill(1), 1e-3),
        across: 0,
        range: [0, 1],
      },
    ],
  };
  const body: Body = {
    name: "b",
    kind: "flexible",
    colour: "#0072B2",
    is_fixed: false,
    parts: [mesh],
    points: { tip: [1, 1] },
    frame: [2, 3, 0.5 * Math.PI],
  };
  document.header.bodies = [GROUND, body];
  return new Run(document);
}

const at = (t: number) => ({ t, side: "after" as const });

describe("a mesh", () => {
  it("deforms with its coordinates, enlarged", () => {
    const run = square();
    const skin = new Skin(run, run.bodies.get("b")!.parts[0] as Mesh);
    skin.set(run.locate(at(0.5)), 10);
    // Half of 0.5, ten times.
    expect(skin.shift[2 * 2]).toBeCloseTo(0.005, 6);
    expect(skin.moved[2 * 2]).toBeCloseTo(1.05, 4);
    expect(skin.moved[2 * 2 + 1]).toBeCloseTo(1, 4);
  });

  it("carries its points, in a frame that is held", () => {
    const frame = new Frame(square());
    const marker = { body: "b", point: [1, 1] as const, node: 2 };
    frame.set(at(1), 1);
    // x of the body is y of the plane.
    expect(frame.point(marker)[0]).toBeCloseTo(1, 4);
    expect(frame.point(marker)[1]).toBeCloseTo(4.01, 4);
    expect(frame.beyond(marker)[1]).toBeCloseTo(0, 6);
    frame.set(at(1), 11);
    expect(frame.point(marker)[1]).toBeCloseTo(4.11, 4);
    expect(frame.beyond(marker)[1]).toBeCloseTo(0.1, 4);
  });

  it("is coloured by a field of its range", () => {
    const run = square();
    const canvas = new FakeCanvas();
    const scene = new Scene(canvas.element, [run]);
    expect(scene.deformation).toBe(20);
    expect(fieldsOf(run).map(({ name }) => name)).toEqual(["displacement", "stress"]);
    scene.draw(at(1));
    const plain = canvas.inks.filter(({ colour }) => SHADES.includes(colour));
    expect(plain.length).toBe(0);
    scene.field = "displacement";
    scene.draw(at(1));
    const coloured = canvas.inks.filter(({ colour }) => SHADES.includes(colour));
    // Means of 0, 5, 10 mm and of 0, 10, 15 mm, of 17 mm: 9.4 and 15.7 of 32 shades.
    const shades = new Set(coloured.map(({ colour }) => SHADES.indexOf(colour)));
    expect([...shades]).toEqual([9, 15]);
  });
});

describe("an elastic block", () => {
  it("shows the pressure on its faces", () => {
    const run = square();
    const mesh = run.bodies.get("b")!.parts[0] as Mesh;
    const stress = mesh.fields[1]!;
    // One component: half of the range at half of the coordinate.
    const field = { ...stress, name: "contact pressure", n_component: 1 };
    field.range = [0, 1];
    mesh.fields.push(field);
    mesh.faces = [{ nodes: [0, 1], normal: [0, -1], reach: 0.4 }];
    const canvas = new FakeCanvas();
    const scene = new Scene(canvas.element, [run]);
    scene.draw(at(1));
    const area = canvas.inks.find(
      ({ kind, alpha }) => kind === "fill" && alpha === 0.35,
    )!;
    const [a, b, c, d] = area.points;
    // Pressure 0.5 of 1: half of the reach behind either node; the side is 1.1 m long.
    const deep = (0.2 / 1.1) * Math.hypot(b![0] - a![0], b![1] - a![1]);
    expect(Math.hypot(d![0] - a![0], d![1] - a![1])).toBeCloseTo(deep, 2);
    expect(Math.hypot(c![0] - b![0], c![1] - b![1])).toBeCloseTo(deep, 2);
  });
});

describe("the tools of deformed bodies", () => {
  it("tell factor and range, and change them", () => {
    const states: object[] = [];
    const tools = new Deformed(fieldsOf(square()), 20, (state) => states.push(state));
    tools.set(20, "displacement");
    const number = tools.root.querySelector<HTMLInputElement>(
      '[data-test="deformation-number"]',
    )!;
    expect(number.value).toBe("20");
    expect(tools.root.textContent).toContain("0.0170 m");
    number.value = "3";
    number.dispatchEvent(new Event("change"));
    number.value = "-1";
    number.dispatchEvent(new Event("change"));
    expect(states).toEqual([{ deformation: 3 }]);
  });

  it("are hidden where nothing is flexible", () => {
    expect(new Deformed([], 1, () => undefined).root.hidden).toBe(true);
  });
});
