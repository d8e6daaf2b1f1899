/**
 * The app: form and runs on the left, the viewer of the run shown on the right.
 *
 * The address says what the form says and what the viewer shows. Picking a source,
 * showing a run and the first change after a run are steps of the browser's history;
 * everything else changes the address in place. So going back leads to the run before.
 */

import { Run } from "../run";
import { make } from "../ui/dom";
import type { ViewerState } from "../ui/state";
import { resolve } from "../ui/theme";
import { Viewer } from "../viewer";
import { fromHash, toHash, type Address } from "./address";
import { Lost, Refusal, type Api, type Gallery, type RunStatus } from "./api";
import { key, label, sourceName, toRequest, type Choice, type Source } from "./choice";
import { Panel, type Actions } from "./panel";
import { isOver, Tracker } from "./tracker";

const PATIENCE = 250; // ms after the last change before the server is asked
const FIRST = "compactor"; // shown to who comes without an address

export class App {
  viewer: Viewer | null = null;
  readonly panel: Panel;
  private readonly api: Api;
  private readonly tracker: Tracker;
  private readonly root: HTMLElement;
  private readonly gallery: Gallery;
  private readonly stage = make("main", { class: "sv-stage" });
  private readonly banner = make("div", {
    class: "sv-banner",
    role: "alert",
    hidden: true,
  });
  private readonly drawer = make(
    "button",
    {
      type: "button",
      class: "sv-drawer",
      test: "drawer",
      "aria-label": "model and runs",
      "aria-expanded": "false",
      onclick: () => this.openDrawer(!this.root.classList.contains("sv-open-drawer")),
    },
    "☰",
  );
  private statuses: RunStatus[] = [];
  private readonly scenes = new Map<string, Run>();
  private readonly mine = new Set<string>(); // started by this page
  private shown: string | null = null;
  private isRun = false; // whether the form says what was run
  private turn = 0; // of what was last asked to be shown; an older answer is late
  private compared: string[] = [];
  private current: string | null = null; // the run under way
  private starting: Promise<unknown> = Promise.resolve(); // what was asked for before
  private server = "";
  private seen: Partial<ViewerState> = {};
  private timer: ReturnType<typeof setTimeout> | null = null;
  private pending: AbortController | null = null;
  private readonly life = new AbortController();

  constructor(root: HTMLElement, api: Api, tracker: Tracker, gallery: Gallery) {
    this.root = root;
    this.api = api;
    this.tracker = tracker;
    this.gallery = gallery;
    this.panel = new Panel(gallery, this.actions());
    tracker.onUpdate = (run) => this.update(run);
    tracker.onLost = (isLost) => this.setLost(isLost);
    root.replaceChildren(this.banner, this.panel.root, this.stage, this.drawer);
    root.classList.add("sv-app", "ns-theme");
    this.setTheme("auto");
    this.empty("Pick a system and run it.");
    const { signal } = this.life;
    window.addEventListener("popstate", () => this.arrive(), { signal });
    window.addEventListener("keydown", (event) => this.onKey(event), { signal });
    const darkness = matchMedia("(prefers-color-scheme: dark)");
    const turn = () => this.setTheme(this.seen.theme ?? "auto");
    darkness.addEventListener("change", turn, { signal });
    this.dropping();
  }

  /** Learn what the server has, then do what the address says. */
  async begin(): Promise<void> {
    const files = await this.tracker.ask(() => this.api.files());
    if (files) this.panel.setFiles(files.folder, files.files);
    await this.list();
    this.arrive();
  }

  dispose(): void {
    this.life.abort();
    this.viewer?.dispose();
  }

  private actions(): Actions {
    return {
      source: (source) => this.pick(source),
      change: () => this.changed(),
      run: () => void this.run(),
      cancel: () => void this.cancel(),
      show: (id) => void this.show(id),
      compare: (id, isOn) => void this.compare(id, isOn),
      remove: (id) => void this.remove(id),
      reportAddress: (id) => this.api.reportAddress(id),
    };
  }

  // ---- the address ---------------------------------------------------------------

  /** Make the page what its address says. */
  private arrive(): void {
    const address = this.readAddress();
    const { choice } = address;
    const { source } = choice;
    if (source.kind === "system" && !this.knows(source.name)) {
      this.panel.setChoice(plainChoice({ kind: "system", name: this.first() }));
      this.panel.setMessage(`There is no system '${source.name}'.`, "wrong");
      return;
    }
    if (choice.source.kind === "text") {
      const known = this.statuses.length > 0 ? " Its runs are below." : "";
      const lost = `The text of '${choice.source.name}' is not in the address; open it again.`;
      this.panel.setChoice({ ...choice, values: {} });
      if (choice.source.text === "") this.panel.setMessage(lost + known, "wrong");
      return;
    }
    this.seen = address.viewer;
    if (address.viewer.theme) this.setTheme(address.viewer.theme);
    this.panel.setChoice(choice);
    const request = toRequest(choice, this.panel.form.infos);
    const same = this.statuses.filter(
      (run) => run.has_scene && key(run.request) === key(request),
    );
    const last = same[same.length - 1];
    if (choice.source.kind === "file") void this.check(choice.values);
    if (last) {
      void this.show(last.id, true).then(() => this.viewer?.setState(address.viewer));
    } else if (choice.source.kind === "system") void this.run();
    else this.panel.setMessage("Press Run to simulate this model.");
  }

  private readAddress(): Address {
    const choice = plainChoice({ kind: "system", name: this.first() });
    return fromHash(location.hash) ?? { choice, viewer: {} };
  }

  private knows(system: string): boolean {
    return this.gallery.systems.some(({ name }) => name === system);
  }

  private first(): string {
    return this.knows(FIRST) ? FIRST : (this.gallery.systems[0]?.name ?? "");
  }

  private writeAddress(isStep: boolean): void {
    const hash = toHash(this.panel.choice(), this.seen);
    if (hash === location.hash) return;
    if (isStep) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }

  // ---- the form ------------------------------------------------------------------

  private pick(source: Source): void {
    this.turn++;
    this.forgetView();
    this.panel.setChoice(plainChoice(source));
    this.writeAddress(true);
    this.panel.setMessage("");
    if (source.kind === "system") void this.run();
    else void this.check({});
  }

  /** What was plotted of another system means nothing for this one. */
  private forgetView(): void {
    this.seen = this.seen.theme ? { theme: this.seen.theme } : {};
  }

  private changed(): void {
    this.writeAddress(this.isRun);
    this.isRun = false;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(null), PATIENCE);
  }

  /**
   * Ask whether the form makes sense. With values, show the fields of a model file
   * and put these values in.
   */
  private async check(values: Record<string, string> | null): Promise<void> {
    this.pending?.abort();
    const pending = (this.pending = new AbortController());
    const choice = this.panel.choice();
    if (values) choice.values = values;
    const request = toRequest(choice, this.panel.form.infos);
    try {
      const answer = await this.api.check(request, pending.signal);
      if (pending.signal.aborted) return;
      if (!answer.ok) {
        this.panel.setError(answer.field, answer.error);
        return;
      }
      if (values) this.panel.showFields(answer.title, answer.parameters, values);
      this.panel.setError(null, "");
    } catch (error) {
      if (!pending.signal.aborted) this.complain(error);
    }
  }

  // ---- runs ----------------------------------------------------------------------

  private async list(): Promise<void> {
    const answer = await this.tracker.ask(() => this.api.runs());
    if (!answer) return;
    if (this.server !== "" && answer.server !== this.server) {
      // Another server: its numbers mean other runs.
      this.scenes.clear();
      this.mine.clear();
      this.compared = [];
      this.shown = null;
      this.current = null;
      this.panel.setProgress(null);
    }
    this.server = answer.server;
    this.statuses = answer.runs;
    this.drawRuns();
    for (const run of answer.runs) {
      if (!isOver(run) && !this.mine.has(run.id)) void this.follow(run.id);
    }
  }

  /** Start what the form says. */
  async run(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.pending?.abort();
    const turn = ++this.turn;
    const request = toRequest(this.panel.choice(), this.panel.form.infos);
    this.writeAddress(false);
    this.isRun = true;
    try {
      // One after the other: what is asked for last gets the last number.
      const started = this.starting.then(() => this.api.start(request));
      this.starting = started.catch(() => {});
      const { id } = await started;
      this.panel.setError(null, "");
      this.openDrawer(false);
      await this.follow(id, turn);
    } catch (error) {
      this.complain(error);
    }
  }

  private async follow(id: string, turn = 0): Promise<void> {
    this.mine.add(id);
    this.current = id;
    const run = await this.tracker.follow(id);
    if (this.current === id) {
      // Another may still be under way, and can be cancelled.
      const other = this.statuses
        .filter((item) => !isOver(item) && item.id !== id)
        .pop();
      this.current = other?.id ?? null;
      this.panel.setProgress(other ?? null);
    }
    if (run === null) {
      await this.list();
      return;
    }
    // Meanwhile the reader may have gone elsewhere.
    if (this.turn === turn) {
      this.conclude(run);
      if (run.has_scene) await this.show(id, true);
    }
    await this.list();
  }

  /** Say how a run ended, if not as it should. */
  private conclude({ state, message, has_scene }: RunStatus): void {
    const isBad = state === "failed";
    // A model that could not be built names its parameter.
    const field = isBad && !has_scene ? fieldOf(message, this.panel) : null;
    if (field) this.panel.setError(field, message);
    else
      this.panel.setMessage(
        state === "finished" ? "" : message,
        isBad ? "wrong" : "plain",
      );
  }

  private update(run: RunStatus): void {
    const at = this.statuses.findIndex((item) => item.id === run.id);
    const before = this.statuses[at];
    if (at < 0) this.statuses.push(run);
    else this.statuses[at] = run;
    if (run.id === this.current) this.panel.setProgress(run);
    if (before?.state !== run.state) this.drawRuns();
  }

  private async cancel(): Promise<void> {
    if (this.current === null) return;
    try {
      this.update(await this.api.cancel(this.current));
    } catch (error) {
      this.complain(error);
    }
  }

  private async remove(id: string): Promise<void> {
    this.tracker.forget(id);
    try {
      await this.api.remove(id);
    } catch (error) {
      if (!(error instanceof Refusal)) this.complain(error);
    }
    this.scenes.delete(id);
    this.compared = this.compared.filter((other) => other !== id);
    await this.list();
    if (this.shown !== id) return this.refresh();
    this.shown = null;
    const last = this.statuses.filter((run) => run.has_scene).pop();
    if (last) await this.show(last.id);
    else this.empty("Pick a system and run it.");
  }

  /** Show a run, and what it was asked for in the form. */
  private async show(id: string, keepsForm = false): Promise<void> {
    const run = this.statuses.find((item) => item.id === id);
    if (!run) return;
    if (!keepsForm) this.openDrawer(false);
    const turn = ++this.turn;
    if (!(await this.load(id)) || this.turn !== turn) return;
    const isOther = this.scenes.get(id)?.header.title !== this.stage.dataset["title"];
    if (isOther && !keepsForm) this.forgetView();
    this.shown = id;
    // Runs of other systems have nothing to be compared with.
    this.compared = this.compared.filter((other) => this.isAlike(other));
    if (!keepsForm) this.restore(run);
    this.isRun = true;
    await this.refresh();
    this.writeAddress(!keepsForm);
  }

  /** Write into the form what a run was asked for. */
  private restore(run: RunStatus): void {
    const { request } = run;
    const values: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.parameters)) {
      values[name] = value === null ? "" : String(value);
    }
    const options: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.options)) {
      options[name] = String(value);
    }
    const until =
      request.until === undefined || request.until === null ? "" : request.until;
    const choice = { values, options, until: String(until) };
    if (request.system !== undefined) {
      this.panel.setChoice({
        ...choice,
        source: { kind: "system", name: request.system },
      });
    } else if (request.file !== undefined) {
      this.panel.setChoice({ ...choice, source: { kind: "file", name: request.file } });
      void this.check(values);
    } else {
      // The server does not keep texts; the panel may.
      const name = request.name ?? "";
      const source = { kind: "text", name, text: "", format: "yaml" } as const;
      this.panel.setChoice({ ...choice, source: this.panel.textOf(name) ?? source });
    }
    this.conclude(run);
  }

  private async compare(id: string, isOn: boolean): Promise<void> {
    this.compared = this.compared.filter((other) => other !== id);
    if (isOn && (await this.load(id))) this.compared.push(id);
    await this.refresh();
  }

  /** Whether a run is of the same system or file as the one shown. */
  private isAlike(id: string): boolean {
    const of = (wanted: string | null) =>
      this.statuses.find((run) => run.id === wanted)?.request;
    const [one, other] = [of(id), of(this.shown)];
    return !!one && !!other && sourceName(one) === sourceName(other);
  }

  private async load(id: string): Promise<boolean> {
    if (this.scenes.has(id)) return true;
    try {
      this.scenes.set(id, await Run.read(await this.api.scene(id)));
      return true;
    } catch (error) {
      this.complain(error);
      return false;
    }
  }

  /** Give the viewer the runs it has to show. */
  private async refresh(): Promise<void> {
    this.drawRuns();
    if (this.shown === null) return;
    const ids = [this.shown, ...this.compared.filter((id) => id !== this.shown)];
    const runs = ids
      .map((id) => this.scenes.get(id))
      .filter((run) => run !== undefined);
    const labels = ids.map((id) => {
      const status = this.statuses.find((run) => run.id === id);
      return status ? `${id}: ${label(status.request, 2)}` : id;
    });
    const title = runs[0]!.header.title;
    if (this.viewer && this.stage.dataset["title"] === title) {
      this.viewer.setRuns(runs, labels);
      return;
    }
    this.viewer?.dispose();
    this.stage.replaceChildren();
    this.stage.dataset["title"] = title;
    this.viewer = new Viewer(this.stage, runs, {
      labels,
      state: this.seen,
      onState: (state) => {
        this.seen = state;
        this.setTheme(state.theme);
        this.writeAddress(false);
      },
    });
    document.title = `${title} · nonsmooth`;
  }

  private drawRuns(): void {
    this.panel.setRuns(
      [...this.statuses].reverse().map((run) => ({
        run,
        isShown: run.id === this.shown,
        isCompared: this.compared.includes(run.id),
        isAlike: this.isAlike(run.id),
      })),
    );
  }

  // ---- around --------------------------------------------------------------------

  private empty(text: string): void {
    this.viewer?.dispose();
    this.viewer = null;
    delete this.stage.dataset["title"];
    this.stage.replaceChildren(make("p", { class: "sv-empty" }, text));
  }

  private complain(error: unknown): void {
    if (error instanceof Lost) {
      this.tracker.setLost(true);
      void this.list();
    } else if (error instanceof Refusal)
      this.panel.setError(error.field, error.message);
    else
      this.panel.setMessage(
        error instanceof Error ? error.message : String(error),
        "wrong",
      );
  }

  private setLost(isLost: boolean): void {
    this.banner.hidden = !isLost;
    this.banner.textContent =
      "The server does not answer. Is `nonsmooth serve` still running? Trying again …";
    if (!isLost) void this.list();
  }

  private setTheme(choice: ViewerState["theme"]): void {
    const theme = resolve(choice);
    this.root.dataset["theme"] = theme;
    document.documentElement.style.colorScheme = theme;
  }

  private openDrawer(isOpen: boolean): void {
    this.root.classList.toggle("sv-open-drawer", isOpen);
    this.drawer.setAttribute("aria-expanded", String(isOpen));
    this.drawer.textContent = isOpen ? "×" : "☰";
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void this.run();
    }
    if (event.key === "Escape") this.openDrawer(false);
  }

  private dropping(): void {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files");
    this.root.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.root.classList.add("sv-dropping");
    });
    this.root.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) this.root.classList.remove("sv-dropping");
    });
    this.root.addEventListener("drop", (event) => {
      this.root.classList.remove("sv-dropping");
      if (!hasFiles(event)) return;
      event.preventDefault();
      void this.panel.read(event.dataTransfer?.files ?? null);
    });
  }
}

function plainChoice(source: Source): Choice {
  return { source, values: {}, until: "", options: {} };
}

/** Return the parameter a message of the gallery is about: "belt: mu = 0.9; must ...". */
export function fieldOf(message: string, panel: Panel): string | null {
  const found = /^[\w ]+: (\S+) = /.exec(message);
  const isKnown = panel.form.infos.some((info) => info.name === found?.[1]);
  return isKnown ? found![1]! : null;
}
