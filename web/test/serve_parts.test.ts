/** The parts of the app's page: address, form, sliders, story, following runs. */

import { describe, expect, it, vi } from "vitest";
import { fromHash, toHash } from "../src/serve/address";
import {
  Api,
  Lost,
  Refusal,
  type ParameterInfo,
  type RunState,
  type RunStatus,
} from "../src/serve/api";
import { key, label, toRequest, toScalar, type Choice } from "../src/serve/choice";
import { Form } from "../src/serve/form";
import { niceStep, scaleOf, shown } from "../src/serve/scale";
import { story } from "../src/serve/story";
import { Tracker } from "../src/serve/tracker";
import { unitText } from "../src/ui/units";

function info(given: Partial<ParameterInfo> = {}): ParameterInfo {
  return {
    name: "mu",
    type: "float",
    default: 0.3,
    unit: "1",
    meaning: "Coefficient of friction",
    low: 0,
    high: 0.4,
    choices: [],
    ...given,
  };
}

const INFOS = [
  info(),
  info({ name: "K", default: 3.1e6, unit: "N/m^n", low: 1e5, high: 1e8 }),
  info({ name: "n", type: "int", default: 2, low: 1, high: 20, unit: "" }),
  info({
    name: "start",
    type: "choice",
    default: "rest",
    choices: ["rest", "moving"],
    low: null,
    high: null,
  }),
  info({ name: "heavy", type: "bool", default: false, low: null, high: null }),
  info({ name: "mu0", default: null, low: null, high: null }),
];

function choice(given: Partial<Choice> = {}): Choice {
  return {
    source: { kind: "system", name: "belt" },
    values: {},
    until: "",
    options: {},
    ...given,
  };
}

describe("address", () => {
  const odd = "a&b=c#d %é;,+/\\\"'";
  const cases: [string, Choice][] = [
    ["plain", choice()],
    ["changed", choice({ values: { mu: "0.2", start: "moving" }, until: "3" })],
    ["options", choice({ options: { rtol: "1e-6", method: "radau" } })],
    ["file", choice({ source: { kind: "file", name: "deep/arm 1.yaml" } })],
    ["odd", choice({ values: { [odd]: odd, mu: "" }, until: odd })],
  ];
  it.each(cases)("survives: %s", (_, given) => {
    expect(fromHash(toHash(given, {}))?.choice).toEqual(given);
  });

  it("carries what the viewer shows", () => {
    const viewer = {
      t: 0.125,
      side: "before" as const,
      speed: 0.05,
      plots: [["sole.normal_force"], ["block.x", "block.vx"]],
      tab: "energy",
      theme: "dark" as const,
      range: [0.1, 0.2] as [number, number],
    };
    const hash = toHash(choice({ values: { speed: "0.2", t: "7" } }), viewer);
    const found = fromHash(hash);
    expect(found?.viewer).toEqual(viewer);
    // A parameter may have the name of something the viewer keeps.
    expect(found?.choice.values).toEqual({ speed: "0.2", t: "7" });
  });

  it("keeps a pasted text out, but its name", () => {
    const text = "nonsmooth: 1";
    const source = {
      kind: "text" as const,
      name: "mine",
      text,
      format: "yaml" as const,
    };
    const hash = toHash(choice({ source }), {});
    expect(hash).not.toContain("nonsmooth");
    expect(fromHash(hash)?.choice.source).toEqual({ ...source, text: "" });
  });

  it.each(["", "#", "#until=3", "#system=", "#%E0%A4%A=1", "#x&y"])(
    "says nothing: %s",
    (hash) => expect(fromHash(hash)).toBeNull(),
  );
});

describe("request", () => {
  it("sends numbers as numbers and the rest for the server to judge", () => {
    expect(["1e-3", " 2 ", ".5", "-1."].map(toScalar)).toEqual([1e-3, 2, 0.5, -1]);
    expect(["", "x", "0x10", "1e999", "1,5", "Infinity"].map(toScalar)).toEqual([
      "",
      "x",
      "0x10",
      "1e999",
      "1,5",
      "Infinity",
    ]);
  });

  it("converts by type", () => {
    const values = { mu: "0.2", start: "moving", heavy: "true", mu0: "", n: "x" };
    const options = { rtol: "1e-6", assemble: "true", method: "radau", step: " " };
    const found = toRequest(choice({ values, options, until: "2.5" }), INFOS);
    expect(found).toEqual({
      system: "belt",
      parameters: { mu: 0.2, start: "moving", heavy: true, mu0: null, n: "x" },
      options: { rtol: 1e-6, assemble: true, method: "radau" },
      until: 2.5,
    });
    expect(toRequest(choice({ until: "soon" }), []).until).toBe("soon");
    expect(toRequest(choice(), [])).not.toHaveProperty("until");
  });

  it("is the same whatever the order", () => {
    const a = toRequest(choice({ values: { mu: "0.2", n: "3" } }), INFOS);
    const b = toRequest(choice({ values: { n: "3", mu: "0.20" } }), INFOS);
    expect(key(a)).toBe(key(b));
    expect(key(a)).not.toBe(key(toRequest(choice({ values: { mu: "0.2" } }), INFOS)));
    // The server writes null for a time that was not given.
    expect(key({ ...a, until: null })).toBe(key(a));
  });

  it("is told in few words", () => {
    const request = toRequest(choice(), []);
    expect(label(request)).toBe("as given");
    const parameters = { mu: 0.2, n: 3, a: 1, b: 2 };
    expect(label({ ...request, parameters })).toBe("mu = 0.2, n = 3, a = 1, 1 more");
    expect(label({ ...request, until: 3 })).toBe("until 3 s");
  });
});

describe("sliders", () => {
  it.each([
    [0, 0.4],
    [-0.15, 0.15],
    [1e5, 1e8],
    [5e-3, 0.5],
    [-3.1416, 3.1416],
  ])("go from %g to %g, both ends included", (low, high) => {
    const scale = scaleOf(info({ low, high, default: low }))!;
    expect(scale.toValue(0)).toBe(low);
    expect(scale.toValue(scale.steps)).toBe(high);
    let last = -Infinity;
    for (let place = 0; place <= scale.steps; place++) {
      const value = scale.toValue(place);
      expect(value).toBeGreaterThanOrEqual(last);
      expect(value).toBeGreaterThanOrEqual(low);
      expect(value).toBeLessThanOrEqual(high);
      // A place and its value name each other, but for rounding: one place.
      expect(Math.abs(scale.toPlace(value) - place)).toBeLessThanOrEqual(1);
      last = value;
    }
  });

  it("reach zero, and round numbers", () => {
    const scale = scaleOf(info({ low: -3.1416, high: 3.1416, default: 0 }))!;
    const values = Array.from({ length: scale.steps + 1 }, (_, k) => scale.toValue(k));
    expect(values).toContain(0);
    expect(values.slice(1, -1).every((v) => String(v).length <= 6)).toBe(true);
  });

  it("count in ones for whole numbers", () => {
    const scale = scaleOf(info({ type: "int", low: 1, high: 20, default: 2 }))!;
    expect(scale.steps).toBe(19);
    expect(scale.toValue(scale.toPlace(7))).toBe(7);
  });

  it("stay within the ends for values outside", () => {
    const scale = scaleOf(info({ low: 1e5, high: 1e8, default: 1e6 }))!;
    expect(scale.toPlace(0)).toBe(0);
    expect(scale.toPlace(-1)).toBe(0);
    expect(scale.toPlace(1e12)).toBe(scale.steps);
  });

  it.each([
    ["no range", info({ low: null })],
    ["set by others", info({ default: null })],
    ["a choice", info({ type: "choice", default: "a" })],
    ["an empty range", info({ low: 1, high: 1, default: 1 })],
  ])("are left out: %s", (_, given) => expect(scaleOf(given)).toBeNull());

  it("step nicely", () => {
    expect([0.3, 0.5, 7, 1, 0.0019].map(niceStep)).toEqual([0.2, 0.5, 5, 1, 0.001]);
  });

  it("write numbers so that they are read back", () => {
    const values = [0, 0.1, 420, 3.1e6, 2.47e-3, 1e-4, -0.033, 23000, 1e8, 2.0943951];
    for (const value of values) {
      // Seven digits are shown.
      expect(Math.abs(Number(shown(value)) - value)).toBeLessThanOrEqual(
        1e-6 * Math.abs(value),
      );
    }
    expect(shown(3.1e6)).toBe("3.1e6");
    expect(shown(null)).toBe("");
  });
});

function field(form: Form, name: string): HTMLInputElement {
  return form.root.querySelector<HTMLInputElement>(`[data-test="param-${name}"]`)!;
}

function type(form: Form, name: string, text: string): void {
  const input = field(form, name);
  input.value = text;
  input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input"));
}

describe("form", () => {
  it("has a control for every type", () => {
    const form = new Form();
    form.show(INFOS, {});
    expect(field(form, "mu").value).toBe("0.3");
    expect(field(form, "start").tagName).toBe("SELECT");
    expect(field(form, "heavy").type).toBe("checkbox");
    expect(field(form, "mu0").placeholder).toBe("auto");
    const sliders = [...form.root.querySelectorAll("input[type=range]")];
    expect(sliders.map((s) => s.getAttribute("data-test"))).toEqual([
      "slider-mu",
      "slider-K",
      "slider-n",
    ]);
    expect(form.values()).toEqual({});
  });

  it("tells what was changed, and takes it back", () => {
    const form = new Form();
    const onChange = vi.fn();
    form.onChange = onChange;
    form.show(INFOS, { K: "2e6" });
    expect(form.values()).toEqual({ K: "2e6" });
    type(form, "mu", "0.25");
    type(form, "start", "moving");
    expect(onChange).toHaveBeenCalledTimes(2);
    expect(form.values()).toEqual({ mu: "0.25", K: "2e6", start: "moving" });
    const row = field(form, "mu").closest(".sv-param")!;
    expect(row.classList.contains("sv-changed")).toBe(true);
    row.querySelector<HTMLButtonElement>(".sv-reset")!.click();
    expect(field(form, "mu").value).toBe("0.3");
    expect(row.classList.contains("sv-changed")).toBe(false);
    form.reset();
    expect(form.values()).toEqual({});
  });

  it("does not call another spelling of the default a change", () => {
    const form = new Form();
    form.show(INFOS, {});
    type(form, "mu", "0.300");
    type(form, "K", "3100000");
    expect(form.values()).toEqual({});
    type(form, "mu", "");
    expect(form.values()).toEqual({ mu: "" });
  });

  it("moves slider and field together", () => {
    const form = new Form();
    form.show(INFOS, {});
    const slider = form.root.querySelector<HTMLInputElement>("[data-test=slider-mu]")!;
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input"));
    expect(field(form, "mu").value).toBe("0.4");
    type(form, "mu", "0");
    expect(slider.value).toBe("0");
    // Text that is no number leaves the field alone.
    type(form, "mu", "x");
    expect(field(form, "mu").value).toBe("x");
  });

  it("puts a message at the field it names, and only there", () => {
    const form = new Form();
    form.show(INFOS, {});
    expect(form.setError("mu", "must be <= mu0")).toBe(true);
    const errors = [...form.root.querySelectorAll(".sv-error")].map(
      (e) => e.textContent,
    );
    expect(errors).toEqual(["must be <= mu0", "", "", "", "", ""]);
    expect(form.setError("none", "elsewhere")).toBe(false);
    expect(form.root.textContent).not.toContain("must be");
    expect(form.setError(null, "")).toBe(false);
  });

  it("groups the fields of a model by element", () => {
    const form = new Form();
    const names = ["arm.mass", "arm.inertia", "sole.friction.mu"];
    form.show(
      names.map((name) => info({ name, low: null, high: null, default: 1 })),
      { "arm.mass": "2" },
    );
    const heads = [...form.root.querySelectorAll("summary")].map((s) => s.textContent);
    expect(heads).toEqual(["arm", "sole"]);
    expect(form.root.textContent).toContain("friction.mu");
    expect(form.values()).toEqual({ "arm.mass": "2" });
  });

  it("shows text as text", () => {
    const form = new Form();
    const name = "<img src=x onerror=alert(1)>";
    form.show([info({ name, meaning: name, unit: name })], {});
    form.setError(name, name);
    expect(form.root.querySelector("img")).toBeNull();
  });

  it("prints units", () => {
    expect(unitText("m/s^2")).toBe("m/s²");
    expect(unitText("N/m^n")).toBe("N/mⁿ");
    expect(unitText("deg")).toBe("°");
  });
});

describe("story", () => {
  it("knows paragraphs, lists, formulas and names", () => {
    const text =
      "Let `belt` run\nunder a block.\n\n    2 D/speed\n      + 1\n\n- `a`: one,\n  still;\n- two.";
    const [first, formula, list] = story(text);
    expect(first!.outerHTML).toBe("<p>Let <code>belt</code> run under a block.</p>");
    expect(formula!.outerHTML).toBe("<pre>2 D/speed\n  + 1</pre>");
    expect(list!.outerHTML).toBe(
      "<ul><li><code>a</code>: one, still;</li><li>two.</li></ul>",
    );
  });
});

// ---- the server, played ------------------------------------------------------------

function status(state: RunState, given: Partial<RunStatus> = {}): RunStatus {
  return {
    id: "1",
    state,
    progress: 0,
    phase: "simulating",
    message: "",
    seconds: 1,
    until: 2,
    title: "belt",
    has_scene: false,
    summary: null,
    request: { system: "belt", parameters: {}, options: {} },
    ...given,
  };
}

function answer(data: unknown, code = 200): Response {
  return new Response(JSON.stringify(data), { status: code });
}

describe("api", () => {
  it("sends JSON, and asks for nothing else", async () => {
    const send = vi.fn(async () => answer({ id: "3" }, 201));
    const api = new Api(send);
    const request = toRequest(choice({ values: { mu: "0.2" } }), INFOS);
    expect(await api.start(request)).toEqual({ id: "3" });
    const [address, init] = send.mock.calls[0] as unknown as [string, RequestInit];
    expect(address).toBe("api/runs");
    expect(init.method).toBe("POST");
    expect(init.headers).toEqual({ "Content-Type": "application/json" });
    expect(JSON.parse(init.body as string)).toEqual(request);
  });

  it("tells a refusal from silence", async () => {
    const refusing = new Api(async () => answer({ error: "no", field: "mu" }, 422));
    const error = await refusing.runs().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ message: "no", field: "mu", status: 422 });
    const silent = new Api(async () => {
      throw new TypeError("failed to fetch");
    });
    await expect(silent.runs()).rejects.toBeInstanceOf(Lost);
    const odd = new Api(async () => new Response("<html>", { status: 502 }));
    await expect(odd.runs()).rejects.toThrow("the server answers 502");
    const aborted = new Api(async () => {
      throw new DOMException("aborted", "AbortError");
    });
    await expect(aborted.runs()).rejects.toMatchObject({ name: "AbortError" });
  });

  it("keeps odd ids inside the path", async () => {
    const send = vi.fn(async () => answer({}));
    await new Api(send).run("../files");
    expect((send.mock.calls[0] as unknown as [string])[0]).toBe("api/runs/..%2Ffiles");
  });
});

describe("tracker", () => {
  function tracked(answers: (RunStatus | Error)[]) {
    const send = vi.fn(async () => {
      const next = answers.length > 1 ? answers.shift()! : answers[0]!;
      if (next instanceof Lost) throw new TypeError("failed to fetch");
      if (next instanceof Error) return answer({ error: next.message }, 404);
      return answer(next);
    });
    const waits: number[] = [];
    const tracker = new Tracker(new Api(send), async (ms) => void waits.push(ms));
    const seen: RunState[] = [];
    const lost: boolean[] = [];
    tracker.onUpdate = (run) => seen.push(run.state);
    tracker.onLost = (isLost) => lost.push(isLost);
    return { tracker, seen, lost, waits, send };
  }

  it.each(["finished", "stopped", "failed", "cancelled"] as const)(
    "follows a run until it is %s",
    async (end) => {
      const { tracker, seen, send } = tracked([
        status("queued"),
        status("running"),
        status(end),
      ]);
      expect((await tracker.follow("1"))?.state).toBe(end);
      expect(seen).toEqual(["queued", "running", end]);
      expect(send).toHaveBeenCalledTimes(3);
    },
  );

  it("waits for a lost server, and says so once", async () => {
    const gone = new Lost();
    const { tracker, seen, lost, waits } = tracked([
      status("running"),
      gone,
      gone,
      gone,
      status("running"),
      status("finished"),
    ]);
    await tracker.follow("1");
    expect(seen).toEqual(["running", "running", "finished"]);
    expect(lost).toEqual([true, false]);
    // It does not ask in a loop: every question but the last is followed by a pause.
    expect(waits.length).toBe(5);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(100);
  });

  it("gives up a run that the server has forgotten", async () => {
    const { tracker, seen } = tracked([status("running"), new Error("no run")]);
    expect(await tracker.follow("1")).toBeNull();
    expect(seen).toEqual(["running"]);
  });

  it("stops when told to", async () => {
    const { tracker, seen, send } = tracked([status("running")]);
    tracker.onUpdate = (run) => {
      seen.push(run.state);
      if (seen.length === 3) tracker.forget("1");
    };
    expect(await tracker.follow("1")).toBeNull();
    expect(send).toHaveBeenCalledTimes(3);
  });
});
