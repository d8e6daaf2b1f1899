/**
 * The app: form and runs on the left, what the form says on the right. That is a run, if
 * there is one of it; else how the model starts. Only the button runs anything.
 *
 * The address says what the form says and what the viewer shows. Picking a source,
 * showing a run and the first change after a run are steps of the browser's history;
 * everything else changes the address in place. So going back leads to the run before.
 */

import { Run } from "../run";
import { make } from "../ui/dom";
import type { ViewerState } from "../ui/state";
import { resolve } from "../ui/theme";
import type { Viewer } from "../viewer";
import { fromHash, toHash, type Address } from "./address";
import {
  Lost,
  Refusal,
  type Api,
  type Gallery,
  type Request,
  type RunStatus,
} from "./api";
import {
  choiceOf,
  key,
  label,
  plainChoice,
  sourceName,
  toRequest,
  type Choice,
  type Source,
} from "./choice";
import { takeDrops } from "./drop";
import { Panel, type Actions } from "./panel";
import { Stage } from "./stage";
import { isOver, Tracker } from "./tracker";
import { fieldOf, statusOf } from "./words";
import { Writing } from "./writing";

const PATIENCE = 250; // ms after the last change before the server is asked
const FIRST = "compactor"; // shown to who comes without an address

export class App {
  readonly panel: Panel;
  private readonly stage = new Stage(
    () => this.seen,
    (state) => this.see(state),
  );
  private readonly writing: Writing;
  private readonly api: Api;
  private readonly tracker: Tracker;
  private readonly root: HTMLElement;
  private readonly gallery: Gallery;
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
    this.writing = new Writing(api, this.panel, {
      request: () => this.request(),
      edited: (source) => this.edited(source),
      saved: (file) => void this.saved(file),
      complain: (error) => this.complain(error),
    });
    tracker.onUpdate = (run) => this.update(run);
    tracker.onLost = (isLost) => this.setLost(isLost);
    tracker.onForbidden = (message) => this.warn(message);
    root.replaceChildren(this.banner, this.panel.root, this.stage.root, this.drawer);
    root.classList.add("sv-app", "ns-theme");
    this.setTheme("auto");
    this.stage.say("Pick a system.");
    const { signal } = this.life;
    window.addEventListener("popstate", () => this.arrive(), { signal });
    window.addEventListener("keydown", (event) => this.onKey(event), { signal });
    const darkness = matchMedia("(prefers-color-scheme: dark)");
    const turn = () => this.setTheme(this.seen.theme ?? "auto");
    darkness.addEventListener("change", turn, { signal });
    takeDrops(root, (files) => void this.panel.read(files));
  }

  get viewer(): Viewer | null {
    return this.stage.viewer;
  }

  /** Learn what the server has, then do what the address says. */
  async begin(): Promise<void> {
    await this.listFiles();
    await this.list();
    this.arrive();
  }

  dispose(): void {
    this.life.abort();
    this.viewer?.dispose();
  }

  private async listFiles(): Promise<void> {
    const files = await this.tracker.ask(() => this.api.files());
    if (files) this.panel.setFiles(files.folder, files.files);
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
      tab: (isText) => void this.writing.turnTo(isText),
      write: () => this.writing.begin(),
      save: (name) => this.writing.save(name),
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
    this.seen = address.viewer;
    if (address.viewer.theme) this.setTheme(address.viewer.theme);
    const text = source.kind === "text" ? this.panel.textOf(source.name) : undefined;
    if (source.kind === "text" && !text) {
      const known = this.statuses.length > 0 ? " Its runs are below." : "";
      this.panel.setChoice({ ...choice, values: {} });
      this.turn++;
      this.stage.say(
        `The text of '${source.name}' is not in the address; open it again.${known}`,
      );
      return;
    }
    this.panel.setChoice(text ? { ...choice, source: text } : choice);
    const last = this.runOf();
    if (last) {
      if (source.kind !== "system") void this.check(choice.values, false);
      void this.show(last.id, true).then(() => this.viewer?.setState(address.viewer));
    } else void this.check(source.kind === "system" ? null : choice.values);
  }

  private request(): Request {
    return toRequest(this.panel.choice(), this.panel.form.infos);
  }

  /** The last run of what the form says, if there is one. */
  private runOf(): RunStatus | undefined {
    const wanted = key(this.request());
    // A text may have changed under its name.
    if (this.panel.choice().source.kind === "text") return undefined;
    const same = this.statuses.filter((run) => key(run.request) === wanted);
    return same.filter((run) => run.has_scene).pop();
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
    this.writing.follow();
    this.writeAddress(true);
    this.panel.setMessage("");
    const last = this.runOf();
    if (last) void this.show(last.id, true);
    if (!last || source.kind !== "system") {
      void this.check(source.kind === "system" ? null : {}, !last);
    }
  }

  /** What was plotted of another system means nothing for this one. */
  private forgetView(): void {
    this.seen = this.seen.theme ? { theme: this.seen.theme } : {};
  }

  private changed(): void {
    this.turn++;
    this.writeAddress(this.isRun);
    this.isRun = false;
    this.later(null);
  }

  /** The text is another: so may be its fields. */
  private edited(source: Source): void {
    this.turn++;
    const choice = this.panel.choice();
    const isNew = choice.source.kind !== "text" || choice.source.name !== source.name;
    const values = choice.source.kind === "text" ? choice.values : {};
    // Parameters of a system are none of a text.
    if (choice.source.kind !== "text") this.panel.form.show([], {});
    this.panel.setSource(source);
    this.writeAddress(isNew);
    this.isRun = false;
    this.later(values);
  }

  private async saved(file: string): Promise<void> {
    await this.listFiles();
    this.panel.setSource({ kind: "file", name: file });
    this.writeAddress(true);
  }

  private later(values: Record<string, string> | null): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(values), PATIENCE);
  }

  /**
   * Ask whether the form makes sense, and draw what it says. With values, show the
   * fields of a model and put these values in.
   */
  private async check(
    values: Record<string, string> | null,
    isDrawn = true,
  ): Promise<void> {
    this.pending?.abort();
    const pending = (this.pending = new AbortController());
    const choice = this.panel.choice();
    if (values) choice.values = values;
    const request = toRequest(choice, this.panel.form.infos);
    try {
      const answer = await this.api.check(request, pending.signal);
      if (pending.signal.aborted) return;
      this.writing.setFaults(answer.ok ? [] : answer.errors);
      if (!answer.ok) {
        this.refuse(choice, answer.errors, answer.field);
        return;
      }
      if (values) this.panel.showFields(answer, values);
      this.panel.setError(null, "");
      if (!isDrawn) return;
      const last = this.runOf();
      if (last) await this.show(last.id, true);
      else await this.draw(request, pending.signal);
    } catch (error) {
      if (!pending.signal.aborted) this.complain(error);
    }
  }

  /** Say what is wrong with the form: at a field, or instead of a picture. */
  private refuse(
    choice: Choice,
    errors: readonly string[],
    field: string | null,
  ): void {
    this.panel.setError(field, errors[0]!);
    // They stand beside the text.
    if (this.writing.isOpen && field === null) this.panel.setMessage("");
    if (choice.source.kind === "system" || field !== null) return;
    // While a text is written, what was drawn last stays beside it.
    if (this.writing.isOpen && this.stage.isStill) {
      const message = "the picture is of the last text that was valid";
      this.stage.setStatus({ kind: "failed", words: "not valid", message });
      return;
    }
    this.shown = null;
    this.drawRuns();
    this.stage.say(`${choice.source.name} is not valid`, ...errors);
  }

  /** Show how the model starts. */
  private async draw(request: Request, signal: AbortSignal): Promise<void> {
    try {
      const start = await Run.read(await this.api.draw(request, signal));
      if (signal.aborted) return;
      this.shown = null;
      this.compared = [];
      this.stage.draw(start);
      this.drawRuns();
      this.say();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      // A later one was asked for.
      if (error.status === 409) return;
      this.writing.setFaults([error.message]);
      const source = this.panel.choice().source;
      this.refuse(this.panel.choice(), [error.message], null);
      if (source.kind === "system") this.stage.say(error.message);
    }
  }

  private see(state: ViewerState): void {
    const { theme, options } = state;
    // A drawing has no plots and no time to remember.
    this.seen = this.stage.isStill ? { ...this.seen, theme, options } : state;
    this.setTheme(theme);
    this.writeAddress(false);
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
    }
    this.server = answer.server;
    this.statuses = answer.runs;
    this.drawRuns();
    this.progress();
    for (const run of answer.runs) {
      if (!isOver(run) && !this.mine.has(run.id)) void this.follow(run.id);
    }
  }

  /** Start what the form says. */
  async run(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.pending?.abort();
    const turn = ++this.turn;
    const request = this.request();
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
    const run = await this.tracker.follow(id);
    if (run === null) {
      await this.list();
      return;
    }
    this.progress();
    // Meanwhile the reader may have gone elsewhere.
    const isAwaited = turn > 0 ? this.turn === turn : this.isAwaited(run);
    if (isAwaited) {
      this.conclude(run);
      if (run.has_scene) await this.show(id, true);
      else this.say(run);
    }
    await this.list();
  }

  /** Whether a run of before is what the form says, and nothing else is shown. */
  private isAwaited(run: RunStatus): boolean {
    return this.shown === null && key(run.request) === key(this.request());
  }

  /** Say beside a drawing how its run is doing. */
  private say(ended?: RunStatus): void {
    if (!this.stage.isStill) return;
    const wanted = key(this.request());
    const same = this.statuses.filter((run) => key(run.request) === wanted);
    this.stage.setStatus(statusOf(ended ?? same.pop()));
  }

  /** Say how a run ended, if not as it should. */
  private conclude({ state, message, has_scene }: RunStatus): void {
    const isBad = state === "failed";
    // A model that could not be built names its parameter.
    const field = isBad && !has_scene ? fieldOf(message, this.panel.form.infos) : null;
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
    this.progress();
    this.say();
    if (before?.state !== run.state) this.drawRuns();
  }

  /** The run that is computed; before it is, the first that waits. */
  private get busy(): RunStatus | undefined {
    const under = this.statuses.filter((run) => !isOver(run));
    return under.find((run) => run.state === "running") ?? under[0];
  }

  private progress(): void {
    const waiting = this.statuses.filter((run) => run.state === "queued").length;
    this.panel.setProgress(this.busy ?? null, waiting);
  }

  private async cancel(): Promise<void> {
    const { busy } = this;
    if (!busy) return;
    try {
      this.update(await this.api.cancel(busy.id));
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
    else await this.check(null);
  }

  /** Show a run, and what it was asked for in the form. */
  private async show(id: string, keepsForm = false): Promise<void> {
    const run = this.statuses.find((item) => item.id === id);
    if (!run) return;
    if (!keepsForm) this.openDrawer(false);
    const turn = ++this.turn;
    if (!(await this.load(id)) || this.turn !== turn) return;
    if (!this.stage.isOf(this.scenes.get(id)) && !keepsForm) this.forgetView();
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
    const choice = choiceOf(run.request, (name) => this.panel.textOf(name));
    this.panel.setChoice(choice);
    const { source } = choice;
    // Without its text a model has no fields.
    const isKnown =
      source.kind === "text" ? source.text !== "" : source.kind === "file";
    if (isKnown) void this.check(choice.values, false);
    this.writing.follow();
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
    this.stage.show(runs, labels);
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

  private complain(error: unknown): void {
    if (error instanceof Lost) {
      this.tracker.setLost(true);
      void this.list();
    } else if (error instanceof Refusal && error.status === 403) {
      this.warn(error.message);
    } else if (error instanceof Refusal)
      this.panel.setError(error.field, error.message);
    else
      this.panel.setMessage(
        error instanceof Error ? error.message : String(error),
        "wrong",
      );
  }

  private warn(message: string): void {
    this.banner.hidden = false;
    this.banner.textContent = message;
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
}
