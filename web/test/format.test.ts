// @vitest-environment node
/** Documents: what Python wrote is read; what is not one is refused in words. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FormatError, decode, unpack } from "../src/format";
import { Run } from "../src/run";
import { block, encode, makeDocument } from "./make";

const packed = new Uint8Array(
  readFileSync(new URL("./fixtures/belt.scene", import.meta.url)),
);

describe("a document written by Python", async () => {
  const run = await Run.read(packed);

  it("has the block on a belt", () => {
    expect(run.header.title).toBe("block on a belt");
    expect(run.t.length).toBe(run.header.sampling.n);
    expect(run.header.arcs.at(-1)).toBe(run.header.sampling.n);
  });

  it("has every column it names, finite", () => {
    for (const { name } of run.header.columns) {
      const numbers = run.column(name);
      expect(numbers.length, name).toBe(run.header.sampling.n);
      expect(numbers.every(Number.isFinite), name).toBe(true);
    }
  });

  it("has times that never go back, twice the same where an arc begins", () => {
    const { t } = run;
    for (let i = 1; i < t.length; i++) expect(t[i]!).toBeGreaterThanOrEqual(t[i - 1]!);
    for (const start of run.header.arcs.slice(1, -1)) {
      expect(t[start]).toBe(t[start - 1]);
    }
  });

  it("breaks away when the spring reaches static friction: t = mu0 m g / (k v)", () => {
    // Event times are located to the solver's rtol of 1e-8.
    const [m, k, speed, mu0, g] = ["m", "k", "speed", "mu0", "gravity"].map((name) =>
      Number(run.header.parameters.find((item) => item.name === name)?.value),
    );
    const first = Number(run.header.events.rows[0]![0]);
    const expected = (mu0! * m! * g!) / (k! * speed!);
    expect(Math.abs(first / expected - 1)).toBeLessThan(1e-8);
  });

  it("closes its ledger to the rounding of its columns", () => {
    const { kinetic, potential, works } = run.header.energy;
    const sum = (i: number, names: string[]) =>
      names.reduce((total, name) => total + run.column(name)[i]!, 0);
    const stored = [kinetic, potential];
    const last = run.t.length - 1;
    const gained = sum(last, stored) - sum(0, stored);
    // Float32 values: 6e-8 of each of a handful of terms of at most some joules.
    const size = Math.max(...works.map((name) => Math.abs(run.column(name)[last]!)));
    expect(Math.abs(gained - sum(last, works))).toBeLessThan(6 * 6e-8 * size);
  });
});

describe("decode", () => {
  it("returns what was packed", async () => {
    const made = makeDocument(block());
    const read = await decode(await encode(made));
    expect(read.header).toEqual(made.header);
    expect([...read.arrays]).toEqual([...made.arrays]);
  });

  it("refuses what is cut short, damaged or something else", async () => {
    await expect(decode(packed.subarray(0, 2000))).rejects.toThrow(FormatError);
    await expect(decode(new Uint8Array([1, 2, 3]))).rejects.toThrow(FormatError);
    const other = makeDocument();
    (other.header as { format: string }).format = "something";
    await expect(decode(await encode(other))).rejects.toThrow("not a nonsmooth run");
  });

  it("says which version it reads", async () => {
    const newer = makeDocument();
    (newer.header as { version: number }).version = 99;
    await expect(decode(await encode(newer))).rejects.toThrow(/version 99.*reads 1/);
  });
});

describe("unpack", () => {
  it("returns float32 to the last bit, over signs, zero and infinities", () => {
    const values = [0, -0, 1, -1e-30, 3.4e38, -1.5, 0.1, 0.1, 7];
    const { header, arrays } = makeDocument({
      t: values.map((_, i) => i),
      columns: { q: values },
    });
    const column = header.columns.find(({ name }) => name === "q")!;
    const read = unpack(column, arrays, values.length);
    expect([...read]).toEqual(values.map(Math.fround));
  });

  it("fills constants, with NaN where nothing is known", () => {
    const none = new Uint8Array();
    const column = { name: "c", unit: "", type: "constant" as const, value: 2.5 };
    expect([...unpack(column, none, 3)]).toEqual([2.5, 2.5, 2.5]);
    expect([...unpack({ ...column, value: null }, none, 1)]).toEqual([NaN]);
  });

  it("adds an origin in double precision", () => {
    const { header, arrays } = makeDocument({ t: [0, 1], columns: { q: [0.25, 0.5] } });
    const column = header.columns.find(({ name }) => name === "q")!;
    const far = unpack({ ...column, origin: 1e9 }, arrays, 2);
    expect([...far]).toEqual([1e9 + 0.25, 1e9 + 0.5]);
    // So are constants, which may be far away.
    const still = {
      name: "c",
      unit: "m",
      type: "constant" as const,
      value: 1e9 + 0.25,
    };
    expect([...unpack(still, arrays, 1)]).toEqual([1e9 + 0.25]);
  });

  it("refuses a column of another length", () => {
    const { header, arrays } = makeDocument({ t: [0, 1], columns: { q: [1, 2] } });
    const column = header.columns.find(({ name }) => name === "q")!;
    expect(() => unpack(column, arrays, 3)).toThrow(FormatError);
  });
});
