/** The viewer as a page: its controls, keys and state, with a canvas that does nothing. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Run } from "../src/run";
import { isTaken } from "../src/ui/keys";
import { VirtualList } from "../src/ui/list";
import { make } from "../src/ui/dom";
import { explain } from "../src/ui/failure";
import { Viewer, showError } from "../src/viewer";
import { block, makeRun } from "./make";

let root: HTMLElement;
let viewer: Viewer;

/** A context that takes every call; measures are zero. */
function silent(): CanvasRenderingContext2D {
  const target: Record<string | symbol, unknown> = {};
  return new Proxy(target, {
    get: (_, name) =>
      name in target
        ? target[name]
        : () => ({ width: 0, addColorStop: () => undefined }),
    set: (_, name, value) => {
      target[name] = value;
      return true;
    },
  }) as unknown as CanvasRenderingContext2D;
}

beforeEach(() => {
  HTMLCanvasElement.prototype.getContext = silent as never;
  globalThis.matchMedia ??= (() => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  })) as never;
  root = make("div");
  document.body.append(root);
  viewer = new Viewer(root, [makeRun(block())]);
});

afterEach(() => {
  viewer.dispose();
  root.remove();
});

const find = (name: string) => {
  const node = root.querySelector<HTMLElement>(`[data-test="${name}"]`);
  if (!node) throw new Error(`no ${name}`);
  return node;
};
const press = (key: string, target: EventTarget = document.body, shiftKey = false) =>
  target.dispatchEvent(
    new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }),
  );

describe("the page", () => {
  it("shows title and status", () => {
    expect(find("title").textContent).toBe("block");
    expect(find("status").textContent).toBe("finished");
  });

  it("steps from event to event, on the side after", () => {
    find("next-event").click();
    expect(viewer.state()).toMatchObject({ t: 1, side: "after" });
    expect(find("side").dataset.side).toBe("after");
    find("next-event").click();
    expect(viewer.state().t).toBe(2);
    find("next-event").click();
    expect(viewer.state().t).toBe(2);
    find("prev-event").click();
    expect(viewer.state().t).toBe(1);
  });

  it("shows either side of an event, and none elsewhere", () => {
    viewer.setTime(1, "before");
    expect(find("side").dataset.side).toBe("before");
    expect(find("event-now").textContent).toContain("sole: stick");
    viewer.setTime(1.5);
    expect(find("side").dataset.side).toBe("");
    expect(find("event-now").textContent).toBe("");
  });

  it("gives the plotted values at the time shown", () => {
    viewer.setTime(1);
    expect(viewer.probe("sole.normal_force")).toEqual({ before: 10, after: 20 });
    const legend = root.querySelector('[data-name="sole.normal_force"]');
    expect(legend?.textContent).toContain("10 → 20 N");
    viewer.setTime(1.5);
    expect(legend?.textContent).toContain("20 N");
    expect(legend?.textContent).not.toContain("→");
  });

  it("keeps time within the run", () => {
    viewer.setTime(99);
    expect(viewer.state().t).toBe(3);
    viewer.setTime(-1);
    expect(viewer.state().t).toBe(0);
    viewer.setTime(NaN);
    expect(viewer.state().t).toBe(0);
  });

  it("answers to keys, but not while one types", () => {
    press(".");
    expect(viewer.state().t).toBe(1);
    press("ArrowRight", document.body, true);
    expect(viewer.state().t).toBe(2);
    press("b");
    expect(viewer.state().side).toBe("before");
    press("End");
    expect(viewer.state().t).toBe(3);
    press("Home");
    expect(viewer.state().t).toBe(0);
    press(".", find("speed"));
    expect(viewer.state().t).toBe(0);
    press(" ");
    expect(viewer.isPlaying).toBe(true);
    press(" ");
    expect(viewer.isPlaying).toBe(false);
  });

  it("turns what is drawn on and off", () => {
    const { forces } = viewer.scene.options;
    find("toggle-forces").click();
    expect(viewer.scene.options.forces).toBe(!forces);
    expect(find("toggle-forces").getAttribute("aria-pressed")).toBe(String(!forces));
  });

  it("changes theme and tab", () => {
    const themes = [0, 1, 2].map(() => {
      find("theme").click();
      return viewer.state().theme;
    });
    expect(themes).toEqual(["light", "dark", "auto"]);
    find("tab-energy").click();
    expect(viewer.state().tab).toBe("energy");
    expect(find("tab-energy").getAttribute("aria-selected")).toBe("true");
  });

  it("takes over a state and returns it", () => {
    viewer.setState({
      t: 2,
      side: "before",
      speed: 0.01,
      plots: [["block.x", "nothing"], ["nothing"]],
      tab: "summary",
      theme: "dark",
      range: [0.5, 2.5],
      options: { names: true },
    });
    expect(viewer.state()).toMatchObject({
      t: 2,
      side: "before",
      speed: 0.01,
      plots: [["block.x"]],
      tab: "summary",
      theme: "dark",
      range: [0.5, 2.5],
    });
    expect(viewer.scene.options.names).toBe(true);
  });

  it("moves the range along with the time", () => {
    viewer.setState({ range: [0, 1] });
    viewer.setTime(2.5);
    const [from, to] = viewer.state().range!;
    expect(from).toBeLessThanOrEqual(2.5);
    expect(to).toBeGreaterThanOrEqual(2.5);
    // The same width, moved: rounding of numbers up to 3.
    expect(Math.abs(to - from - 1)).toBeLessThan(1e-15);
  });

  it("shows another run, and keeps what it can", () => {
    viewer.setState({ t: 2.5, plots: [["block.x"]], tab: "events" });
    const other = makeRun({ ...block(), title: "another" });
    viewer.setRuns([other, makeRun(block())], ["new", "old"]);
    expect(find("title").textContent).toBe("another");
    expect(viewer.state()).toMatchObject({
      t: 2.5,
      plots: [["block.x"]],
      tab: "events",
    });
    expect(find("run-legend").textContent).toBe("newolddifference");
  });

  it("follows a model that wishes for other plots", () => {
    viewer.setState({ plots: [["block.x"]] });
    const wishing = { ...block(), plots: [["block.vx"]] };
    viewer.setRuns([makeRun(wishing)]);
    expect(viewer.state().plots).toEqual([["block.vx"]]);
    viewer.setState({ plots: [["block.x"]] });
    viewer.setRuns([makeRun(wishing)]);
    expect(viewer.state().plots).toEqual([["block.x"]]);
  });

  it("shows a run that has nothing", () => {
    viewer.setRuns([makeRun({ t: [0] })]);
    expect(find("title").textContent).toBe("made by hand");
    viewer.play();
    viewer.pause();
    expect(viewer.state().t).toBe(0);
  });

  it("tells its owner of changes, once for many", async () => {
    vi.useFakeTimers();
    const onState = vi.fn();
    const other = new Viewer(root, [makeRun(block())], { onState });
    for (const t of [1, 1.5, 2]) other.setTime(t);
    vi.advanceTimersByTime(1000);
    expect(onState).toHaveBeenCalledTimes(1);
    expect(onState.mock.calls[0]![0]).toMatchObject({ t: 2 });
    other.dispose();
    vi.useRealTimers();
  });

  it("leaves nothing behind", () => {
    const one = make("div");
    document.body.append(one);
    new Viewer(one, [makeRun(block())]).dispose();
    expect(one.childElementCount).toBe(0);
  });
});

describe("playing", () => {
  let frames: FrameRequestCallback[] = [];
  let wall = 1000;
  const run = (ms: number) => {
    wall += ms;
    const due = frames;
    frames = [];
    for (const frame of due) frame(wall);
  };

  beforeEach(() => {
    frames = [];
    vi.spyOn(performance, "now").mockImplementation(() => wall);
    vi.stubGlobal("requestAnimationFrame", (frame: FrameRequestCallback) =>
      frames.push(frame),
    );
    vi.stubGlobal("cancelAnimationFrame", () => (frames = []));
    viewer.setState({ speed: 0.1 });
  });

  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  it("advances by speed times wall time and stops at the end", () => {
    viewer.play();
    for (let k = 0; k < 100; k++) run(17);
    // Rounding of a product of numbers below 3.
    expect(Math.abs(viewer.state().t - 0.1 * 1.7)).toBeLessThan(1e-12);
    run(60_000);
    expect(viewer.state().t).toBe(3);
    expect(viewer.isPlaying).toBe(false);
    expect(frames.length).toBe(0);
    viewer.play();
    run(1000);
    expect(viewer.state().t).toBeLessThan(0.2);
  });

  it("repeats what is seen, without losing time", () => {
    viewer.setState({ range: [1, 2], t: 1 });
    find("loop").click();
    viewer.play();
    run(12_500);
    // 1.25 s of the run: one turn and a quarter.
    expect(Math.abs(viewer.state().t - 1.25)).toBeLessThan(1e-9);
    expect(viewer.isPlaying).toBe(true);
  });

  it("asks for frames only while it plays", () => {
    expect(frames.length).toBe(0);
    viewer.play();
    expect(frames.length).toBe(1);
    viewer.pause();
    expect(frames.length).toBe(0);
  });
});

describe("what cannot be shown", () => {
  it("is said in words", () => {
    showError(root, new Error("the run's data are cut short"));
    expect(find("error").textContent).toContain("The run's data are cut short.");
  });

  it("names browsers that work where this one cannot unpack", () => {
    vi.stubGlobal("DecompressionStream", undefined);
    expect(explain(new Error("x"))).toMatch(/Firefox from 113/);
    vi.unstubAllGlobals();
  });

  it("is refused when there is no run", () => {
    expect(() => new Viewer(make("div"), [] as Run[])).toThrow("needs a run");
  });
});

describe("keys that belong to others", () => {
  it("are those of fields, buttons and lists", () => {
    expect(isTaken(make("input"), "f")).toBe(true);
    expect(isTaken(make("select"), "ArrowLeft")).toBe(true);
    expect(isTaken(make("button"), " ")).toBe(true);
    expect(isTaken(make("button"), "ArrowLeft")).toBe(false);
    const tabs = make("div", { role: "tablist" }, make("button"));
    expect(isTaken(tabs.firstChild, "ArrowLeft")).toBe(true);
    expect(isTaken(make("div"), " ")).toBe(false);
  });
});

describe("a list of 20 000 rows", () => {
  it("has only those in sight", () => {
    const list = new VirtualList(30, (k) => make("div", { class: "row" }, `row ${k}`));
    Object.defineProperty(list.root, "clientHeight", { value: 600 });
    list.setCount(20_000);
    expect(list.root.querySelectorAll(".row").length).toBeLessThan(40);
    list.reveal(15_000);
    const texts = [...list.root.querySelectorAll(".row")].map((row) => row.textContent);
    expect(texts).toContain("row 15000");
    expect(texts.length).toBeLessThan(40);
    list.dispose();
  });
});

describe("the event table", () => {
  it("marks the last event before the time, and shows its fields", () => {
    Object.defineProperty(HTMLElement.prototype, "clientHeight", {
      configurable: true,
      get: () => 600,
    });
    viewer.setRuns([makeRun(block())]);
    viewer.setState({ tab: "events" });
    const marked = () =>
      [...root.querySelectorAll<HTMLElement>('[data-test="event-row"]')]
        .filter((row) => row.getAttribute("aria-selected") === "true")
        .map((row) => row.dataset.index);
    viewer.setTime(0.5);
    expect(marked()).toEqual([]);
    viewer.setTime(1.5);
    expect(marked()).toEqual(["0"]);
    expect(find("event-detail").textContent).toContain("slip+ → stick");
    root.querySelectorAll<HTMLElement>('[data-test="event-row"]')[1]!.click();
    expect(viewer.state()).toMatchObject({ t: 2, side: "after" });
    expect(marked()).toEqual(["1"]);
    const kind = find("filter-kind") as HTMLSelectElement;
    kind.value = "stick";
    kind.dispatchEvent(new Event("change"));
    expect(root.querySelectorAll('[data-test="event-row"]').length).toBe(1);
    Reflect.deleteProperty(HTMLElement.prototype, "clientHeight");
  });
});
