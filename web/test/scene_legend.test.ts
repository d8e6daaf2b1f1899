// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";
import { legend, modesOf, newtons } from "../src/scene/legend";
import { contrast, Theme } from "../src/scene/theme";
import { block, makeRun, MODES } from "./make";

describe("legend", () => {
  it("has the modes that occur, in the document's order", () => {
    expect(modesOf(makeRun(block()))).toEqual(["stick", "slip+", "open"]);
    const made = legend([makeRun(block())], "light");
    const words = [...made.children].map((child) => child.textContent?.trim());
    expect(words.slice(0, 3)).toEqual(["stick", "slip +", "open"]);
    const fills = [...made.querySelectorAll("circle")].map((c) =>
      c.getAttribute("fill"),
    );
    expect(fills.slice(0, 2)).toEqual([MODES.stick, MODES["slip+"]]);
  });

  it("explains the signs of slip, and which arrow is which", () => {
    const made = legend([makeRun(block())], "light");
    const items = [...made.children] as HTMLElement[];
    const slip = items.find((item) => item.textContent?.includes("slip +"));
    expect(slip?.title).toMatch(/slip velocity > 0/);
    expect(made.textContent).toContain("normal force");
    expect(made.textContent).toContain("friction force");
  });

  it("tells the longest arrow's force", () => {
    expect(legend([makeRun(block())], "dark").textContent).toContain("20 N");
  });

  it("is empty where nothing touches", () => {
    expect(legend([makeRun()], "light").children.length).toBe(0);
  });

  it("collects the modes of compared runs", () => {
    const other = block();
    other.columns = { ...other.columns, "sole.mode": [-1, -1, -1, 0, 0, 2, 2] };
    const both = legend([makeRun(block()), makeRun(other)], "light").textContent;
    expect(both).toContain("slip −");
    expect(both).toContain("slip +");
  });

  it("writes forces with three digits", () => {
    expect([1832.4, 20, 0.0123, 999.9, 4.2e6].map(newtons)).toEqual([
      "1.83 kN",
      "20 N",
      "12.3 mN",
      "1 kN",
      "4.2 MN",
    ]);
  });
});

describe("words in the picture", () => {
  it.each(["light", "dark"] as const)("can be read on %s paper", (name) => {
    const theme = new Theme(name);
    const { paper, text, ink } = theme.colours;
    // The palette of bodies; 4.5 is the least contrast of WCAG 2.2, level AA.
    const palette = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
    const words = [null, "#000000", ...palette].map((colour) => theme.words(colour));
    for (const colour of [text, ink, ...words]) {
      expect(contrast(colour, paper), colour).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("have the contrast of the standard's examples", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 9);
    // The lightest grey that passes on white.
    expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
  });
});
