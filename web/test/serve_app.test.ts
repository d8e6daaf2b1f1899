/** The app as a whole, with a server that is played and a viewer that is a stub. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunStatus } from "../src/serve/api";

const viewers: FakeViewer[] = [];

class FakeViewer {
  runs: readonly unknown[];
  labels: string[] | undefined;
  state: object = {};
  isDisposed = false;
  constructor(
    readonly root: HTMLElement,
    runs: readonly unknown[],
    readonly options: {
      labels?: string[];
      state?: object;
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
  check: unknown = { ok: true, title: "", parameters: [] };
  readonly log: [string, string, unknown][] = [];

  readonly fetch = async (address: string, init?: RequestInit): Promise<Response> => {
    if (this.isSilent) throw new TypeError("failed to fetch");
    const method = init?.method ?? "GET";
    const data: unknown = init?.body ? JSON.parse(init.body as string) : null;
    this.log.push([method, address, data]);
    const reply = (value: unknown, status = 200) =>
      new Response(JSON.stringify(value), { status });
    const [, , what, id, action] = address.split("/");
    if (what === "files") return reply({ folder: "models", files: ["arm.yaml"] });
    if (what === "check") return reply(this.check);
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
      .filter(([m, a]) => m === "POST" && a === "/api/runs")
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
  for (let k = 0; k < 400 && !holds(); k++) await soon(5);
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

function write(test: string, text: string): void {
  const field = find<HTMLInputElement>(test);
  field.value = text;
  field.dispatchEvent(new Event("input"));
}

beforeEach(() => {
  viewers.length = 0;
  server = new Server();
  root = document.createElement("div");
  document.body.replaceChildren(root);
});

afterEach(() => {
  for (const app of apps.splice(0)) app.dispose();
});

describe("app", () => {
  it("runs what the address says, at once for a gallery system", async () => {
    await open("#system=belt&p.mu=0.1&until=3&o.rtol=1e-6&tab=energy");
    await until(() => viewers.length === 1);
    expect(server.started()).toEqual([
      { system: "belt", parameters: { mu: 0.1 }, options: { rtol: 1e-6 }, until: 3 },
    ]);
    expect(viewers[0]!.options.state).toMatchObject({ tab: "energy" });
    expect(find<HTMLSelectElement>("system").value).toBe("belt");
    expect(find<HTMLInputElement>("param-mu").value).toBe("0.1");
    expect(find<HTMLInputElement>("until").value).toBe("3");
    expect(find("run-1").getAttribute("aria-current")).not.toBeNull();
  });

  it("offers to run a file, and shows its fields", async () => {
    server.check = { ok: true, title: "arm", parameters: [parameter("arm.mass", 1)] };
    await open("#file=arm.yaml&p.arm.mass=2&until=1");
    await until(() => find("param-arm.mass") !== null);
    expect(find<HTMLInputElement>("param-arm.mass").value).toBe("2");
    expect(server.started()).toEqual([]);
    find("run").click();
    await until(() => viewers.length === 1);
    expect(server.started()).toEqual([
      { file: "arm.yaml", parameters: { "arm.mass": 2 }, options: {}, until: 1 },
    ]);
  });

  it("says that it does not know a system, and runs nothing", async () => {
    await open("#system=none");
    await soon(30);
    expect(find("message").textContent).toBe("There is no system 'none'.");
    expect(find<HTMLSelectElement>("system").value).toBe("compactor");
    expect(server.started()).toEqual([]);
  });

  it("runs the first system for who comes without an address", async () => {
    await open();
    await until(() => viewers.length === 1);
    expect(server.started()).toEqual([
      { system: "compactor", parameters: {}, options: {} },
    ]);
  });

  it("shows progress, and cancels", async () => {
    server.holds = true;
    await open("#system=belt");
    await until(() => !find("progress").hidden);
    await until(() => find("progress").textContent!.includes("t = 1.00 of 4 s"));
    expect(find("progress").getAttribute("aria-valuenow")).toBe("25");
    find("cancel").click();
    await until(() => find("progress").hidden);
    expect(find("cancel").hidden).toBe(true);
    expect(find("message").textContent).toBe("cancelled");
    // What was computed is shown.
    await until(() => viewers.length === 1);
    expect(find("run-1").dataset["state"]).toBe("cancelled");
  });

  it("checks what is typed, and puts the message where it belongs", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
    server.check = { ok: false, error: "mu = 2; too much", field: "mu" };
    write("param-mu", "2");
    expect(location.hash).toContain("p.mu=2");
    await until(() => root.textContent!.includes("too much"));
    const row = find("param-mu").closest(".sv-param")!;
    expect(row.textContent).toContain("mu = 2; too much");
    expect(find("message").textContent).toBe("");
    server.check = { ok: false, error: "until = x; must be a time", field: "until" };
    write("until", "x");
    await until(() => root.textContent!.includes("must be a time"));
    expect(row.textContent).not.toContain("too much");
    expect(find("message").textContent).toBe("");
    server.check = { ok: false, error: "rtol = 0; must be > 0", field: "rtol" };
    write("option-rtol", "0");
    await until(() => find("solver").textContent!.includes("must be > 0"));
    expect(find<HTMLDetailsElement>("solver").open).toBe(true);
    server.check = { ok: false, error: "the model is odd", field: null };
    write("option-rtol", "1");
    await until(() => find("message").textContent === "the model is odd");
    server.check = { ok: true, title: "", parameters: [] };
    write("option-rtol", "");
    await until(() => find("message").textContent === "");
    expect(root.querySelectorAll(".sv-error:not(:empty)").length).toBe(0);
  });

  it("says why a run was refused, and goes on", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
    server.failure = { error: "8 runs wait already" };
    find("run").click();
    await until(() => find("message").textContent === "8 runs wait already");
    server.failure = null;
    find("run").click();
    await until(() => find("run-2") !== null);
    expect(find("message").textContent).toBe("");
  });

  it("compares, shows and deletes runs", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
    write("param-mu", "0.2");
    find("run").click();
    await until(() => (viewers[0]!.labels ?? [])[0] === "2: mu = 0.2");
    find<HTMLInputElement>("compare-1").click();
    await until(() => viewers[0]!.runs.length === 2);
    expect(viewers[0]!.labels).toEqual(["2: mu = 0.2", "1: as given"]);
    find("run-1").click();
    await until(() => viewers[0]!.labels?.[0] === "1: as given");
    // The form says what the run shown was asked for.
    expect(find<HTMLInputElement>("param-mu").value).toBe("0.3");
    find("delete-1").click();
    await until(() => find("run-1") === null);
    await until(() => viewers.at(-1)!.labels?.[0] === "2: mu = 0.2");
    expect(viewers.at(-1)!.runs.length).toBe(1);
  });

  it("compares runs of one system only", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
    find("run").click();
    await until(() => (viewers[0]!.labels ?? [])[0] === "2: as given");
    find<HTMLInputElement>("compare-1").click();
    await until(() => viewers[0]!.runs.length === 2);
    const select = find<HTMLSelectElement>("system");
    select.value = "compactor";
    select.dispatchEvent(new Event("change"));
    await until(() => find("run-3")?.getAttribute("aria-current") === "true");
    expect(viewers.at(-1)!.runs.length).toBe(1);
    expect(find<HTMLInputElement>("compare-1").disabled).toBe(true);
    expect(find<HTMLInputElement>("compare-1").checked).toBe(false);
  });

  it("starts runs in the order they were asked for, and follows all", async () => {
    const send = server.fetch;
    let isFirst = true;
    // The first start takes long, the second would overtake it.
    const slow: typeof send = async (address, init) => {
      if (address === "/api/runs" && init?.method === "POST" && isFirst) {
        isFirst = false;
        await soon(30);
      }
      return send(address, init);
    };
    Object.defineProperty(server, "fetch", { value: slow });
    server.holds = true;
    await open("#system=belt");
    write("until", "7");
    find("run").click();
    await until(() => server.runs.length === 2);
    expect(server.runs.map((run) => run.request.until)).toEqual([null, 7]);
    await until(() => find("run-2")?.dataset["state"] === "running");
    // The one asked for last is cancelled first; then the other can be.
    find("cancel").click();
    await until(() => find("run-2").dataset["state"] === "cancelled");
    await until(() => !find<HTMLButtonElement>("cancel").hidden);
    find("cancel").click();
    await until(() => find("run-1").dataset["state"] === "cancelled");
    await until(() => find("progress").hidden);
  });

  it("goes back and forward", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
    const select = find<HTMLSelectElement>("system");
    select.value = "compactor";
    select.dispatchEvent(new Event("change"));
    await until(() => server.started().length === 2);
    await until(() => find("progress").hidden);
    expect(location.hash).toMatch(/^#system=compactor/);
    // As the browser does on going back.
    history.replaceState(null, "", "/#system=belt&t=0.5");
    window.dispatchEvent(new PopStateEvent("popstate"));
    await until(() => select.value === "belt");
    await soon(30);
    // The run of that address is there already, so nothing is computed.
    expect(server.started().length).toBe(2);
    await until(() => find("run-1").getAttribute("aria-current") !== null);
    await until(() => "t" in viewers.at(-1)!.state);
    expect(viewers.at(-1)!.state).toEqual({ t: 0.5 });
  });

  it("makes a step of history for the first change after a run", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
    const push = vi.spyOn(history, "pushState");
    const steps = () => push.mock.calls.map(([, , hash]) => hash);
    write("param-mu", "0.2");
    write("param-mu", "0.25");
    viewers[0]!.options.onState!({ t: 0.5 });
    find("run").click();
    await until(() => server.started().length === 2);
    expect(steps()).toEqual(["#system=belt&p.mu=0.2"]);
    expect(location.hash).toBe("#system=belt&p.mu=0.25&t=0.5");
    write("param-k", "0.1");
    expect(steps().length).toBe(2);
    push.mockRestore();
  });

  it("keeps the address up to date with the viewer", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
    viewers[0]!.options.onState!({
      t: 0.5,
      side: "after",
      tab: "events",
      theme: "dark",
    });
    expect(location.hash).toBe("#system=belt&t=0.5&tab=events&theme=dark");
    expect(root.dataset["theme"]).toBe("dark");
  });

  it("says when the server is lost, and finds it again", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
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
    const app = await open("#system=belt");
    await until(() => viewers.length === 1);
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
  });

  it("runs on Ctrl+Enter", async () => {
    await open("#system=belt");
    await until(() => viewers.length === 1);
    const press = new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true });
    window.dispatchEvent(press);
    await until(() => server.started().length === 2);
  });
});

function hasText(data: unknown): boolean {
  return typeof data === "object" && data !== null && "text" in data;
}
