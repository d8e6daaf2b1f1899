/** The notebook widget, with a model and a viewer that are played. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Model } from "../src/widget";

class FakeViewer {
  now: Record<string, unknown> = { t: 0, side: "after" };
  isPlaying = false;
  isDisposed = false;
  constructor(
    readonly root: HTMLElement,
    public runs: readonly unknown[],
    readonly options: { compact?: boolean; state?: object; onState?: () => void },
  ) {
    Object.assign(this.now, options.state);
    viewers.push(this);
  }
  state() {
    return { ...this.now };
  }
  setState(state: object) {
    Object.assign(this.now, state);
    this.options.onState?.();
  }
  setRuns(runs: readonly unknown[]) {
    this.runs = runs;
  }
  dispose() {
    this.isDisposed = true;
  }
}

const viewers: FakeViewer[] = [];
const errors: unknown[] = [];

vi.mock("../src/viewer", () => ({
  Viewer: vi.fn(function (...given: ConstructorParameters<typeof FakeViewer>) {
    return new FakeViewer(...given);
  }),
  showError: (root: HTMLElement, error: Error) => {
    errors.push(error);
    root.textContent = error.message;
  },
}));
vi.mock("../src/run", () => ({
  Run: {
    read: async (bytes: Uint8Array) => {
      if (bytes.length === 0) throw new Error("cut short");
      return [...bytes];
    },
  },
}));

const { bytes, default: widget, render } = await import("../src/widget");

class FakeModel implements Model {
  readonly listeners = new Map<string, Set<() => void>>();
  saved = 0;
  constructor(readonly traits: Record<string, unknown>) {}
  get(name: string) {
    return this.traits[name];
  }
  set(name: string, value: unknown) {
    this.traits[name] = value;
  }
  save_changes() {
    this.saved++;
  }
  on(event: string, callback: () => void) {
    const known = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, known.add(callback));
  }
  off(event: string, callback: () => void) {
    this.listeners.get(event)?.delete(callback);
  }
  /** As if Python had set a trait. */
  push(name: string, value: unknown) {
    this.traits[name] = value;
    for (const callback of this.listeners.get(`change:${name}`) ?? []) callback();
  }
}

// The bytes stand in the middle of a buffer, as those of a message do.
function view(...values: number[]): DataView {
  const buffer = new Uint8Array([99, 99, ...values, 99]).buffer;
  return new DataView(buffer, 2, values.length);
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

function mount(traits: Record<string, unknown>) {
  const model = new FakeModel(traits);
  const el = document.createElement("div");
  const clean = render({ model, el });
  return { model, el, clean };
}

beforeEach(() => {
  viewers.length = 0;
  errors.length = 0;
  vi.useFakeTimers();
});

afterEach(() => vi.useRealTimers());

describe("widget", () => {
  it("is what anywidget expects", () => expect(widget.render).toBe(render));

  it("shows the run, compact, in the state given", async () => {
    const { el } = mount({
      scene: view(1, 2),
      state: { t: 0.5, other: 1 },
      height: 300,
    });
    await settle();
    expect(viewers.length).toBe(1);
    expect(viewers[0]!.runs).toEqual([[1, 2]]);
    expect(viewers[0]!.options.compact).toBe(true);
    expect(viewers[0]!.options.state).toEqual({ t: 0.5 });
    expect((el.firstChild as HTMLElement).style.height).toBe("300px");
  });

  it("tells Python what the reader did, not too often", async () => {
    const { model } = mount({ scene: view(1), state: {} });
    await settle();
    for (let k = 1; k <= 50; k++) {
      viewers[0]!.setState({ t: k });
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(1000);
    // 0.5 s of changes, every 0.3 s, and the last.
    expect(model.saved).toBe(2);
    expect(model.get("state")).toEqual({ t: 50, side: "after" });
    viewers[0]!.options.onState!();
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.saved).toBe(2);
  });

  it("does not send while it plays", async () => {
    const { model } = mount({ scene: view(1), state: {} });
    await settle();
    viewers[0]!.isPlaying = true;
    viewers[0]!.setState({ t: 1 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.saved).toBe(0);
    viewers[0]!.isPlaying = false;
    viewers[0]!.options.onState!();
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.saved).toBe(1);
  });

  it("follows Python, and does not answer with an echo", async () => {
    const { model } = mount({ scene: view(1), state: {}, height: 300 });
    await settle();
    model.push("state", { t: 0.25 });
    expect(viewers[0]!.now).toEqual({ t: 0.25, side: "after" });
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.saved).toBe(0);
  });

  it("shows another run, the last one given", async () => {
    const { model, el } = mount({ scene: view(1), state: {}, height: 300 });
    await settle();
    model.push("scene", view(2));
    model.push("scene", view(3));
    model.push("height", 0);
    await settle();
    expect(viewers.length).toBe(1);
    expect(viewers[0]!.runs).toEqual([[3]]);
    expect((el.firstChild as HTMLElement).style.height).toBe("560px");
  });

  it("says what is wrong with a scene, and recovers", async () => {
    const { model, el } = mount({ scene: view(), state: {} });
    await settle();
    expect(el.textContent).toBe("cut short");
    model.push("scene", null);
    await settle();
    expect(el.textContent).toBe("the widget holds no run");
    model.push("scene", view(7));
    await settle();
    expect(viewers[0]!.runs).toEqual([[7]]);
    expect(el.textContent).toBe("");
  });

  it("leaves nothing behind", async () => {
    const { model, el, clean } = mount({ scene: view(1), state: {} });
    await settle();
    viewers[0]!.setState({ t: 1 });
    clean();
    await vi.advanceTimersByTimeAsync(1000);
    expect(viewers[0]!.isDisposed).toBe(true);
    expect(el.childNodes.length).toBe(0);
    expect([...model.listeners.values()].every((set) => set.size === 0)).toBe(true);
    expect(model.saved).toBe(0);
  });

  it("is not shown if it is gone before the run is read", async () => {
    const { clean } = mount({ scene: view(1), state: {} });
    clean();
    await settle();
    expect(viewers.length).toBe(0);
  });

  it("reads bytes and states of any kind", () => {
    expect([...bytes(view(1, 2))]).toEqual([1, 2]);
    expect([...bytes(new Uint8Array([3]))]).toEqual([3]);
    expect([...bytes(new Uint8Array([4]).buffer)]).toEqual([4]);
    expect(() => bytes("x")).toThrow("holds no run");
  });
});
