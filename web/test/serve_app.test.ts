/** The app as a whole, with a server that is played and a viewer that is a stub. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunStatus } from "../src/serve/api";

const viewers: FakeViewer[] = [];

class FakeViewer {
  runs: readonly unknown[];
  labels: string[] | undefined;
  state: object = {};
  status: { words: string; message: string } | null = null;
  isDisposed = false;
  constructor(
    readonly root: HTMLElement,
    runs: readonly unknown[],
    readonly options: {
      labels?: string[];
      state?: object;
      isStill?: boolean;
      onState?: (state: object) => void;
    },
  ) {
    this.runs = runs;
    this.labels = options.labels;
    viewers.push(this);
  }
  setRuns(runs: readonly unknown[], labels?: string[]) {
    this.runs = runs;
    this.labels = labels;
  }
  get isStill() {
    return this.options.isStill ?? false;
  }
  setStatus(status: { words: string; message: string } | null) {
    this.status = status;
  }
  setState(state: object) {
    this.state = state;
  }
  dispose() {
    this.isDisposed = true;
  }
}

vi.mock("../src/viewer", () => ({
  Viewer: vi.fn(function (...given: ConstructorParameters<typeof FakeViewer>) {
    return new FakeViewer(...given);
  }),
}));
vi.mock("../src/run", () => ({
  Run: {
    read: vi.fn(async (bytes: Uint8Array) => ({
      id: new TextDecoder().decode(bytes),
      header: { title: "a title" },
    })),
  },
}));

const { Api } = await import("../src/serve/api");
const { App } = await import("../src/serve/app");
const { Tracker } = await import("../src/serve/tracker");

function parameter(name: string, value: number) {
  return {
    name,
    type: "float" as const,
    default: value,
    unit: "1",
    meaning: name,
    low: 0,
    high: 1,
    choices: [],
  };
}

const GALLERY = {
  version: "1",
  systems: ["belt", "compactor"].map((name) => ({
    name,
    summary: `the ${name}`,
    story: "A story.",
    duration: 5,
    parameters: [parameter("mu", 0.3), parameter("k", 0.5)],
  })),
  methods: ["auto", "rk4"],
  schemes: ["events", "paper"],
  branches: ["unique"],
};

/** A server: runs end when they are told to, or at the second question. */
class Server {
  token = "a";
  runs: (RunStatus & { asked: number })[] = [];
  isSilent = false;
  holds = false; // runs go on until they are cancelled
  failure: { error: string; field?: string } | null = null;
  check: unknown = { ok: true, title: "", until: null, parameters: [] };
  text = { name: "belt.yaml", text: "nonsmooth: 1\n", format: "yaml", stamp: null };
  readonly log: [string, string, unknown][] = [];

  readonly fetch = async (address: string, init?: RequestInit): Promise<Response> => {
    if (this.isSilent) throw new TypeError("failed to fetch");
    const method = init?.method ?? "GET";
    const data: unknown = init?.body ? JSON.parse(init.body as string) : null;
    this.log.push([method, address, data]);
    const reply = (value: unknown, status = 200) =>
      new Response(JSON.stringify(value), { status });
    const [, what, id, action] = address.split("/");
    if (what === "files" && method === "POST") {
      const { file, stamp } = data as { file: string; stamp: string | null };
      if (file === "arm.yaml" && stamp !== "1") {
        return reply({ error: "it is there already" }, 409);
      }
      return reply({ file, stamp: "2" }, 201);
    }
    if (what === "files") return reply({ folder: "models", files: ["arm.yaml"] });
    if (what === "check") return reply(this.check);
    if (what === "draw") return new Response("start");
    if (what === "schema") return reply({ $defs: {} });
    if (what === "text") return reply(this.text);
    if (id === undefined && method === "GET") {
      return reply({ server: this.token, runs: this.runs });
    }
    if (id === undefined) {
      if (this.failure) return reply(this.failure, 422);
      return reply({ id: this.start(data as RunStatus["request"]) }, 201);
    }
    const run = this.runs.find((item) => item.id === id);
    if (!run) return reply({ error: "no run" }, 404);
    if (action === "scene") return new Response(id);
    if (method === "DELETE") {
      this.runs = this.runs.filter((item) => item !== run);
      return reply({});
    }
    if (action === "cancel") {
      Object.assign(run, { state: "cancelled", has_scene: true, message: "cancelled" });
    } else if (run.state === "running" && !this.holds && ++run.asked > 1) {
      Object.assign(run, { state: "finished", progress: 1, has_scene: true });
    }
    return reply(run);
  };

  start(request: RunStatus["request"]): string {
    const id = String(this.runs.length + 1);
    this.runs.push({
      id,
      state: "running",
      progress: 0.25,
      phase: "simulating",
      message: "",
      seconds: 0.1,
      until: 4,
      title: "a title",
      has_scene: false,
      summary: null,
      request: { ...request, until: request.until ?? null },
      asked: 0,
    });
    return id;
  }

  started(): unknown[] {
    return this.log
      .filter(([m, a]) => m === "POST" && a === "api/runs")
      .map((e) => e[2]);
  }
}

let root: HTMLElement;
let server: Server;

const apps: InstanceType<typeof App>[] = [];
const soon = (ms = 0) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const find = <T extends HTMLElement = HTMLElement>(test: string) =>
  root.querySelector<T>(`[data-test="${test}"]`)!;

/** Wait until something holds. */
async function until(holds: () => boolean): Promise<void> {
  for (let k = 0; k < 800 && !holds(); k++) await soon(5);
  expect(holds()).toBe(true);
}

async function open(hash = ""): Promise<InstanceType<typeof App>> {
  history.replaceState(null, "", `/${hash}`);
  const api = new Api(server.fetch);
  const app = new App(root, api, new Tracker(api, () => soon(1)), GALLERY);
  apps.push(app);
  await app.begin();
  return app;
}

// A page of an earlier test may still have something to show.
const shown = () => viewers.filter((viewer) => root.contains(viewer.root)).at(-1)!;

/** Open the page and press Run. */
async function ran(hash = ""): Promise<InstanceType<typeof App>> {
  const app = await open(hash);
  await until(() => viewers.length > 0);
  find("run").click();
  await until(() => viewers.length > 1);
  await until(() => find("progress").hidden);
  return app;
}

function choose(value: string): void {
  const select = find<HTMLSelectElement>("system");
  select.value = value;
  select.dispatchEvent(new Event("change"));
}

function write(test: string, text: string): void {
  const field = find<HTMLInputElement>(test);
  field.value = text;
  field.dispatchEvent(new Event("input"));
}

beforeEach(() => {
  viewers.length = 0;
  sessionStorage.clear();
  server = new Server();
  root = document.createElement("div");
  document.body.replaceChildren(root);
});

afterEach(() => {
  for (const app of apps.splice(0)) app.dispose();
});

describe("app", () => {
  it("draws what the address says, and runs it when asked", async () => {
    await open("#system=belt&p.mu=0.1&until=3&o.rtol=1e-6&tab=energy");
    await until(() => viewers.length === 1);
    expect(server.started()).toEqual([]);
    expect(shown().isStill).toBe(true);
    await until(() => shown().status?.words === "not run yet");
    find("run").click();
    await until(() => viewers.length === 2);
    expect(server.started()).toEqual([
      { system: "belt", parameters: { mu: 0.1 }, options: { rtol: 1e-6 }, until: 3 },
    ]);
    expect(shown().isStill).toBe(false);
    expect(shown().options.state).toMatchObject({ tab: "energy" });
    expect(find<HTMLSelectElement>("system").value).toBe("belt");
    expect(find<HTMLInputElement>("param-mu").value).toBe("0.1");
    expect(find<HTMLInputElement>("until").value).toBe("3");
    expect(find("run-1").getAttribute("aria-current")).not.toBeNull();
  });

  it("draws again what is changed, and shows a run that is changed back to", async () => {
    await ran("#system=belt");
    write("param-mu", "0.2");
    await until(() => shown().isStill);
    expect(find("run-1").getAttribute("aria-current")).toBeNull();
    const drawn = server.log.filter(([, a]) => a === "api/draw");
    expect(drawn.at(-1)![2]).toMatchObject({ parameters: { mu: 0.2 } });
    write("param-mu", "0.3");
    await until(() => !shown().isStill);
    expect(find("run-1").getAttribute("aria-current")).toBe("true");
    expect(server.started().length).toBe(1);
  });

  it("offers to run a file, and shows its fields and its time", async () => {
    server.check = {
      ok: true,
      title: "arm",
      until: 2.5,
      parameters: [parameter("arm.mass", 1)],
    };
    await open("#file=arm.yaml&p.arm.mass=2");
    await until(() => find("param-arm.mass") !== null);
    expect(find<HTMLInputElement>("param-arm.mass").value).toBe("2");
    expect(find<HTMLInputElement>("until").value).toBe("2.5");
    expect(server.started()).toEqual([]);
    find("run").click();
    await until(() => viewers.length === 2);
    expect(server.started()).toEqual([
      { file: "arm.yaml", parameters: { "arm.mass": 2 }, options: {} },
    ]);
  });

  it("empties the view for a file that is not valid, and says all of it", async () => {
    await ran("#system=belt");
    const errors = ["arm.yaml: line 2: no", "arm.yaml: line 3: neither"];
    server.check = { ok: false, error: errors[0], errors, field: null };
    choose("file:arm.yaml");
    await until(() => find("empty") !== null);
    expect(find("empty").textContent).toContain("arm.yaml is not valid");
    for (const error of errors) expect(find("empty").textContent).toContain(error);
    expect(shown().isDisposed).toBe(true);
    expect(find("run-1").getAttribute("aria-current")).toBeNull();
  });

  it("says that it does not know a system, and runs nothing", async () => {
    await open("#system=none");
    await soon(30);
    expect(find("message").textContent).toBe("There is no system 'none'.");
    expect(find<HTMLSelectElement>("system").value).toBe("compactor");
    expect(server.started()).toEqual([]);
  });

  it("draws the first system for who comes without an address", async () => {
    await open();
    await until(() => viewers.length === 1);
    expect(find<HTMLSelectElement>("system").value).toBe("compactor");
    expect(server.started()).toEqual([]);
  });

  it("shows progress, and cancels", async () => {
    server.holds = true;
    await open("#system=belt");
    await until(() => viewers.length === 1);
    find("run").click();
    await until(() => !find("progress").hidden);
    await until(() => find("progress").textContent!.includes("t = 1.00 of 4 s"));
    expect(find("progress").getAttribute("aria-valuenow")).toBe("25");
    await until(() => shown().status?.words === "running");
    find("cancel").click();
    await until(() => find("progress").hidden);
    expect(find("cancel").hidden).toBe(true);
    expect(find("message").textContent).toBe("cancelled");
    // What was computed is shown.
    await until(() => viewers.length === 2);
    expect(find("run-1").dataset["state"]).toBe("cancelled");
  });

  it("cancels the run that is computed, not one that waits", async () => {
    server.holds = true;
    await open("#system=belt");
    await until(() => viewers.length === 1);
    find("run").click();
    await until(() => server.runs.length === 1);
    write("param-mu", "0.2");
    find("run").click();
    await until(() => server.runs.length === 2);
    Object.assign(server.runs[1]!, { state: "queued", phase: "waiting" });
    await until(() => find("run-2")?.textContent!.includes("waiting") ?? false);
    expect(find("progress").textContent).toContain("run 1");
    expect(find("progress").textContent).toContain("1 more waits");
    find("cancel").click();
    await until(() => find("run-1").dataset["state"] === "cancelled");
    expect(server.runs[1]!.state).toBe("queued");
    await until(() => find("progress").textContent!.includes("run 2 · waiting"));
    // The drawing is of what waits.
    await until(() => shown().status?.words === "waiting");
  });

  it("says what failed where the picture is", async () => {
    server.holds = true;
    await open("#system=belt");
    await until(() => viewers.length === 1);
    find("run").click();
    await until(() => server.runs.length === 1);
    Object.assign(server.runs[0]!, { state: "failed", message: "it is singular" });
    await until(() => shown().status?.words === "failed");
    expect(shown().status?.message).toBe("it is singular");
    expect(find("message").textContent).toBe("it is singular");
  });

  it("does not run on reload, and follows what is under way", async () => {
    server.holds = true;
    server.start({ system: "belt", parameters: {}, options: {} });
    await open("#system=belt");
    await until(() => !find("progress").hidden);
    expect(server.started()).toEqual([]);
    await until(() => shown()?.status?.words === "running");
    server.holds = false;
    await until(() => viewers.at(-1)?.isStill === false);
    expect(server.started()).toEqual([]);
  });

  it("checks what is typed, and puts the message where it belongs", async () => {
    await ran("#system=belt");
    const wrong = (error: string, field: string | null) => {
      server.check = { ok: false, error, errors: [error], field };
    };
    wrong("mu = 2; too much", "mu");
    write("param-mu", "2");
    expect(location.hash).toContain("p.mu=2");
    await until(() => root.textContent!.includes("too much"));
    const row = find("param-mu").closest(".sv-param")!;
    expect(row.textContent).toContain("mu = 2; too much");
    expect(find("message").textContent).toBe("");
    wrong("until = x; must be a time", "until");
    write("until", "x");
    await until(() => root.textContent!.includes("must be a time"));
    expect(row.textContent).not.toContain("too much");
    expect(find("message").textContent).toBe("");
    wrong("rtol = 0; must be > 0", "rtol");
    write("option-rtol", "0");
    await until(() => find("solver").textContent!.includes("must be > 0"));
    expect(find<HTMLDetailsElement>("solver").open).toBe(true);
    wrong("the model is odd", null);
    write("option-rtol", "1");
    await until(() => find("message").textContent === "the model is odd");
    server.check = { ok: true, title: "", until: null, parameters: [] };
    write("option-rtol", "");
    await until(() => find("message").textContent === "");
    expect(root.querySelectorAll(".sv-error:not(:empty)").length).toBe(0);
  });

  it("says why a run was refused, and goes on", async () => {
    await ran("#system=belt");
    server.failure = { error: "8 runs wait already" };
    find("run").click();
    await until(() => find("message").textContent === "8 runs wait already");
    server.failure = null;
    find("run").click();
    await until(() => find("run-2") !== null);
    expect(find("message").textContent).toBe("");
  });

  it("compares, shows and deletes runs", async () => {
    await ran("#system=belt");
    write("param-mu", "0.2");
    find("run").click();
    await until(() => (shown().labels ?? [])[0] === "2: mu = 0.2");
    find<HTMLInputElement>("compare-1").click();
    await until(() => shown().runs.length === 2);
    expect(shown().labels).toEqual(["2: mu = 0.2", "1: as given"]);
    find("run-1").click();
    await until(() => shown().labels?.[0] === "1: as given");
    // The form says what the run shown was asked for.
    expect(find<HTMLInputElement>("param-mu").value).toBe("0.3");
    find("delete-1").click();
    await until(() => find("run-1") === null);
    await until(() => shown().labels?.[0] === "2: mu = 0.2");
    expect(shown().runs.length).toBe(1);
  });

  it("compares runs of one system only", async () => {
    await ran("#system=belt");
    find("run").click();
    await until(() => (shown().labels ?? [])[0] === "2: as given");
    find<HTMLInputElement>("compare-1").click();
    await until(() => shown().runs.length === 2);
    choose("compactor");
    await until(() => shown().isStill);
    find("run").click();
    await until(() => find("run-3")?.getAttribute("aria-current") === "true");
    expect(shown().runs.length).toBe(1);
    expect(find<HTMLInputElement>("compare-1").disabled).toBe(true);
    expect(find<HTMLInputElement>("compare-1").checked).toBe(false);
  });

  it("starts runs in the order they were asked for, and follows all", async () => {
    const send = server.fetch;
    let isFirst = true;
    // The first start takes long, the second would overtake it.
    const slow: typeof send = async (address, init) => {
      if (address === "api/runs" && init?.method === "POST" && isFirst) {
        isFirst = false;
        await soon(30);
      }
      return send(address, init);
    };
    Object.defineProperty(server, "fetch", { value: slow });
    server.holds = true;
    await open("#system=belt");
    find("run").click();
    write("until", "7");
    find("run").click();
    await until(() => server.runs.length === 2);
    expect(server.runs.map((run) => run.request.until)).toEqual([null, 7]);
    await until(() => find("run-2")?.dataset["state"] === "running");
    for (const id of ["run-1", "run-2"]) {
      await until(() => !find<HTMLButtonElement>("cancel").hidden);
      find("cancel").click();
      await until(() => find(id).dataset["state"] === "cancelled");
    }
    await until(() => find("progress").hidden);
  });

  it("goes back and forward", async () => {
    await ran("#system=belt");
    choose("compactor");
    await until(() => shown().isStill);
    find("run").click();
    await until(() => server.started().length === 2);
    await until(() => find("progress").hidden);
    expect(location.hash).toMatch(/^#system=compactor/);
    // As the browser does on going back.
    history.replaceState(null, "", "/#system=belt&t=0.5");
    window.dispatchEvent(new PopStateEvent("popstate"));
    await until(() => find<HTMLSelectElement>("system").value === "belt");
    await soon(30);
    // The run of that address is there already, so nothing is computed.
    expect(server.started().length).toBe(2);
    await until(() => find("run-1").getAttribute("aria-current") !== null);
    await until(() => "t" in shown().state);
    expect(shown().state).toEqual({ t: 0.5 });
  });

  it("makes a step of history for the first change after a run", async () => {
    await ran("#system=belt");
    const push = vi.spyOn(history, "pushState");
    const steps = () => push.mock.calls.map(([, , hash]) => hash);
    write("param-mu", "0.2");
    write("param-mu", "0.25");
    shown().options.onState!({ t: 0.5 });
    find("run").click();
    await until(() => server.started().length === 2);
    expect(steps()).toEqual(["#system=belt&p.mu=0.2"]);
    expect(location.hash).toBe("#system=belt&p.mu=0.25&t=0.5");
    write("param-k", "0.1");
    expect(steps().length).toBe(2);
    push.mockRestore();
  });

  it("keeps the address up to date with the viewer", async () => {
    await ran("#system=belt");
    shown().options.onState!({
      t: 0.5,
      side: "after",
      tab: "events",
      theme: "dark",
    });
    expect(location.hash).toBe("#system=belt&t=0.5&tab=events&theme=dark");
    expect(root.dataset["theme"]).toBe("dark");
  });

  it("says when the server is lost, and finds it again", async () => {
    await ran("#system=belt");
    const banner = root.querySelector<HTMLElement>(".sv-banner")!;
    expect(banner.hidden).toBe(true);
    server.isSilent = true;
    find("run").click();
    await until(() => !banner.hidden);
    expect(banner.textContent).toContain("does not answer");
    // Another server comes up at the same address: it knows nothing of our runs.
    server.isSilent = false;
    server.token = "b";
    server.runs = [];
    await until(() => banner.hidden);
    await until(() => find("runs").hidden);
  });

  it("takes a file that is opened, and refuses others", async () => {
    const app = await ran("#system=belt");
    const give = (name: string, text: string) =>
      app.panel.read([new File([text], name)] as unknown as FileList);
    await give("notes.txt", "x");
    expect(find("message").textContent).toContain("ends in .yaml, .yml or .json");
    await give("big.yaml", "x".repeat(1_000_000));
    expect(find("message").textContent).toContain("larger than");
    await give("arm.json", '{"nonsmooth": 1}');
    await until(() => server.log.some(([, , data]) => hasText(data)));
    write("until", "2");
    find("run").click();
    await until(() => server.started().length === 2);
    expect(server.started()[1]).toEqual({
      text: '{"nonsmooth": 1}',
      format: "json",
      name: "arm.json",
      parameters: {},
      options: {},
      until: 2,
    });
    await until(() => find("run-2")?.getAttribute("aria-current") === "true");
  });

  it("writes a model: its text, what is wrong in it, and where it is saved", async () => {
    await open("#system=belt&p.mu=0.2");
    await until(() => viewers.length === 1);
    find("tab-text").click();
    const area = () => find<HTMLTextAreaElement>("text");
    await until(() => area().value === "nonsmooth: 1\n");
    expect(server.log.at(-1)![2]).toMatchObject({ parameters: { mu: 0.2 } });
    // Looking changes nothing.
    expect(find<HTMLSelectElement>("system").value).toBe("belt");
    const errors = ["belt.yaml: line 2: bodies: 3; give a list"];
    server.check = { ok: false, error: errors[0], errors, field: null };
    area().value = "nonsmooth: 1\nbodies: 3\n";
    area().dispatchEvent(new InputEvent("input", { data: "3" }));
    expect(find<HTMLSelectElement>("system").value).toBe("text:belt.yaml");
    await until(() => !find("faults").hidden);
    expect(find("faults").textContent).toBe("line 2 bodies: 3; give a list");
    expect(root.querySelector(".sv-bad-line")!.textContent).toBe("2\n");
    // The picture stays, and says of what it is.
    expect(shown().isDisposed).toBe(false);
    expect(shown().status?.words).toBe("not valid");
    find("save").click();
    find<HTMLInputElement>("save-name").value = "arm.yaml";
    find("save-use").click();
    await until(() => root.textContent!.includes("it is there already"));
    find<HTMLInputElement>("save-name").value = "new.yaml";
    find("save-use").click();
    await until(() => find<HTMLSelectElement>("system").value === "file:new.yaml");
    expect(
      server.log.filter(([m, a]) => m === "POST" && a === "api/files").at(-1)![2],
    ).toEqual({ file: "new.yaml", text: "nonsmooth: 1\nbodies: 3\n", stamp: null });
  });

  it("keeps a text that was written when the page is loaded again", async () => {
    await open("#system=belt");
    find("new").click();
    await until(() => location.hash.startsWith("#text=model.yaml"));
    const { hash } = location;
    root.replaceChildren();
    await open(hash);
    find("tab-text").click();
    const area = find<HTMLTextAreaElement>("text");
    await until(() => area.value.includes("a rod on a pin"));
  });

  it("runs on Ctrl+Enter", async () => {
    await ran("#system=belt");
    const press = new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true });
    window.dispatchEvent(press);
    await until(() => server.started().length === 2);
  });
});

function hasText(data: unknown): boolean {
  return typeof data === "object" && data !== null && "text" in data;
}
