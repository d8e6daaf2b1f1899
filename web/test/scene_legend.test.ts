// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";
import { legend, modesOf, newtons } from "../src/scene/legend";
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
