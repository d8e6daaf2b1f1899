/** The text of a model: its outline, what may come next, its colours. */

import { describe, expect, it } from "vitest";
import { complete, references, type Schema } from "../src/serve/complete";
import { ink } from "../src/serve/ink";
import { lineOf, outline } from "../src/serve/outline";

const TEXT = `# a remark: not a key
nonsmooth: 1
bodies:
  - type: RigidBody
    name: rod
    points: {pin: [-0.5, 0], tip: [0.5, 0]}
  - {type: PointMass, name: "the ball",
     mass: 2}
joints:
- type: Revolute
  name: pin
  b: rod.pin
`;

const SCHEMA: Schema = {
  anyOf: [{ $ref: "#/$defs/model" }],
  $defs: {
    model: {
      type: "object",
      required: ["nonsmooth", "bodies"],
      properties: {
        nonsmooth: { const: 1 },
        title: { type: "string", default: "" },
        bodies: { type: "array", items: { $ref: "#/$defs/body" } },
        joints: { type: "array", items: { $ref: "#/$defs/joint" }, default: [] },
        assemble: { type: "boolean", default: false },
      },
    },
    body: {
      type: "object",
      properties: { type: { enum: ["RigidBody", "PointMass"] } },
      anyOf: [{ $ref: "#/$defs/body.RigidBody" }, { $ref: "#/$defs/body.PointMass" }],
    },
    "body.RigidBody": {
      description: "A rigid body.",
      required: ["type", "name", "mass"],
      properties: {
        type: { const: "RigidBody" },
        name: { type: "string" },
        angle: { type: "number", description: "rad", default: 0 },
        mass: { type: "number", description: "kg" },
        points: { type: "object", additionalProperties: { type: "array" } },
      },
    },
    "body.PointMass": {
      description: "A mass without extent.",
      properties: {
        type: { const: "PointMass" },
        name: { type: "string" },
        weight: { type: "number" },
      },
    },
    joint: {
      type: "object",
      properties: { type: { enum: ["Revolute"] } },
      anyOf: [{ $ref: "#/$defs/joint.Revolute" }],
    },
    "joint.Revolute": {
      properties: {
        type: { const: "Revolute" },
        b: { type: "string" },
        law: { $ref: "#/$defs/body" },
        side: { enum: ["left", "right"], default: "left" },
      },
    },
  },
};

/** Complete at the bar in a text. */
function at(text: string, isJson = false): string[] | null {
  const cursor = text.indexOf("|");
  const found = complete(SCHEMA, text.replace("|", ""), cursor, isJson);
  return found && found.items.map(({ label }) => label);
}

describe("outline", () => {
  it("finds keys, values and lines in blocks and in brackets", () => {
    const { keys, lines } = outline(TEXT);
    expect([...keys.get("")!.keys()]).toEqual(["nonsmooth", "bodies", "joints"]);
    expect(keys.get("bodies\u00000")!.get("name")).toBe("rod");
    expect([...keys.get("bodies\u00000\u0000points")!.keys()]).toEqual(["pin", "tip"]);
    expect(keys.get("bodies\u00001")!.get("name")).toBe("the ball");
    expect(keys.get("bodies\u00001")!.get("mass")).toBe("2");
    expect(keys.get("joints\u00000")!.get("b")).toBe("rod.pin");
    expect(lines.get("bodies\u00001\u0000mass")).toBe(8);
    expect(references(outline(TEXT))).toEqual([
      "ground",
      "rod",
      "rod.pin",
      "rod.tip",
      "the ball",
    ]);
  });

  it("reads JSON", () => {
    const text = '{\n "nonsmooth": 1,\n "bodies": [\n  {"name": "a", "mass": 1}\n ]\n}';
    const { keys, lines } = outline(text);
    expect(keys.get("bodies\u00000")!.get("name")).toBe("a");
    expect(lines.get("bodies\u00000\u0000mass")).toBe(4);
  });

  it("finds the line a message is about", () => {
    expect(lineOf("x.yaml: line 5: bodies[0]: no", TEXT)).toBe(5);
    expect(lineOf("joint 'pin': no body 'rood'", TEXT)).toBe(11);
    expect(lineOf("the model is odd", TEXT)).toBe(null);
  });
});

describe("complete", () => {
  it("offers keys that are not there yet, those that are needed first", () => {
    expect(at("nonsmooth: 1\n|")).toEqual(["bodies", "title", "joints", "assemble"]);
    expect(at("nonsmooth: 1\nti|")).toEqual(["title"]);
    expect(at("bodies:\n  - type: RigidBody\n    |")).toEqual([
      "name",
      "mass",
      "angle",
      "points",
    ]);
    // Also those that come later are there.
    expect(at("bodies:\n  - type: RigidBody\n    |\n    mass: 1\n")).toEqual([
      "name",
      "angle",
      "points",
    ]);
    expect(at("bodies:\n- {type: PointMass, |}")).toEqual(["name", "weight"]);
    expect(at("bodies:\n- {type: PointMass,\n   we|")).toEqual(["weight"]);
  });

  it("asks for the type first, and knows what each is", () => {
    expect(at("bodies:\n  - |")).toEqual(["type"]);
    const text = "bodies:\n  - type: ";
    const found = complete(SCHEMA, text, text.length)!;
    expect(found.items.map(({ label, detail }) => [label, detail])).toEqual([
      ["RigidBody", "A rigid body."],
      ["PointMass", "A mass without extent."],
    ]);
  });

  it("offers values: names of the text, choices, elements", () => {
    const end = TEXT + "- {type: Revolute, name: two, ";
    expect(at(`${end}b: rod.|}`)).toEqual(["rod.pin", "rod.tip"]);
    expect(at(`${end}side: |}`)).toEqual(["left", "right"]);
    expect(at("assemble: |")).toEqual(["true", "false"]);
    expect(at(`${end}law: |`)).toEqual(["RigidBody", "PointMass"]);
  });

  it("is silent in remarks, in free texts and where all is said", () => {
    expect(at("title: a bo|")).toBe(null);
    expect(at("bodies:\n  - type: RigidBody|")).toBe(null);
    expect(at("bodies:\n  - points: {pi|n: [0, 0]}")).toBe(null);
  });

  it("writes JSON in JSON", () => {
    const text = '{"nonsmooth": 1, ';
    const found = complete(SCHEMA, text, text.length, true)!;
    expect(found.items[0]).toMatchObject({ label: "bodies", insert: '"bodies": ' });
    expect(at('{"bodies": [{"type": "|', true)).toEqual(["RigidBody", "PointMass"]);
  });

  it("never fails, wherever the cursor is", () => {
    for (const text of [TEXT, "{[}]:,\n- - -\n  a: {b: [\n", "\u0000\t: :\n'"]) {
      for (let k = 0; k <= text.length; k++) complete(SCHEMA, text, k);
    }
  });
});

describe("ink", () => {
  it("keeps the text, whatever is in it", () => {
    const odd = `${TEXT}a: "<b>&amp;" # <i>\n<script>: 'x\n`;
    const box = document.createElement("pre");
    box.innerHTML = ink(odd, new Set([2]));
    expect(box.textContent).toBe(odd);
    expect(box.querySelector("b, i, script")).toBeNull();
    expect(box.querySelector(".sv-wave")!.textContent).toBe("nonsmooth: 1");
    expect(box.querySelector(".sv-remark")!.textContent).toBe("# a remark: not a key");
  });
});
