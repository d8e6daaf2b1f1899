/**
 * The viewer: a scene, its time, plots, energy, events and what is known of the run.
 *
 * Stable names for tests from end to end are in `data-test`:
 *
 *     title status theme            header
 *     download, download-csv, download-all-csv, download-events-csv
 *     scene fit zoom-in zoom-out    picture; toggle-<option> for each of SceneOptions
 *     play or pause                 the button is called after what it does
 *     prev-event next-event loop speed time side event-now
 *                                   `data-side` of side: "before", "after" or ""
 *     timeline                      events, modes, scrubbing
 *     tab-plots tab-energy tab-events tab-summary
 *     plot                          a panel; its quantities in `data-names`
 *     plot-legend                   its legend; `data-name` on each quantity
 *     pick picker                   the button and the list of quantities
 *     event-row event-detail filter-kind filter-element
 *     energy-legend residual run-legend error
 *     deformation deformation-number field colour-bar   of flexible bodies
 */

import uplotStyle from "uplot/dist/uPlot.min.css?inline";
import type { Instant, Run, Side } from "./run";
import { legend } from "./scene/legend";
import { Scene } from "./scene/scene";
import style from "./style.css?inline";
import { Clock, decimals, defaultSpeed } from "./ui/clock";
import { fileName } from "./ui/csv";
import { addStyle, download, icon, make } from "./ui/dom";
import { Deformed } from "./ui/deformed";
import { Energy } from "./ui/energy";
import { EventList, eventLine, lower } from "./ui/events";
import { Film } from "./ui/film";
import { Header, type ViewerStatus } from "./ui/header";
import { action, isTaken } from "./ui/keys";
import { Picker } from "./ui/picker";
import { Plots, defaultPlots, sides, type Sides } from "./ui/plots";
import type { ViewerState } from "./ui/state";
import { summary } from "./ui/summary";
import { fillError } from "./ui/failure";
import { EventTable } from "./ui/table";
import { Tabs } from "./ui/tabs";
import { lineColour, resolve, type Theme, type ThemeChoice } from "./ui/theme";
import { Timeline } from "./ui/timeline";
import { covered, Tools, ZOOM } from "./ui/tools";
import { Transport } from "./ui/transport";

export type { ViewerStatus } from "./ui/header";
export type { ViewerState } from "./ui/state";

export interface ViewerOptions {
  state?: Partial<ViewerState>;
  labels?: string[]; // of runs, in comparisons
  compact?: boolean; // with a small header, and keys only where the focus is
  isStill?: boolean; // a model that has not been run: nothing but the picture
  onState?: (state: ViewerState) => void;
}

const NEXT_THEME: Record<ThemeChoice, ThemeChoice> = {
  auto: "light",
  light: "dark",
  dark: "auto",
};

const FRAME = 1 / 60; // s
const VALUES = 0.1; // s by the wall between numbers while playing: they can be read
const REPORTS = 0.25; // s between reports of the state while it changes

/** Put our style sheets where a node is. */
export function addStyles(node: Node): void {
  addStyle(node, "nonsmooth-uplot-style", uplotStyle);
  addStyle(node, "nonsmooth-style", style);
}

const now = () => performance.now() / 1000;

export class Viewer {
  private shownScene!: Scene;
  private events!: EventList;
  private timeline!: Timeline;
  private transport!: Transport;
  private plots!: Plots;
  private energy!: Energy;
  private table!: EventTable;
  private tabs!: Tabs;
  private picker!: Picker;
  private legendBox!: HTMLElement;
  private deformed!: Deformed;
  private tools!: Tools;
  private pickButton!: HTMLButtonElement;
  private header!: Header;
  private film: Film | null = null;
  private canvas!: HTMLCanvasElement;
  private readonly clock: Clock;
  private instant: Instant;
  private range: [number, number] | null = null;
  private themeChoice: ThemeChoice = "auto";
  private isLooping = false;
  private frame = 0;
  private lastValues = 0;
  private report: ReturnType<typeof setTimeout> | null = null;
  private readonly darkness: MediaQueryList;
  private readonly observer: ResizeObserver;
  private readonly box: HTMLElement;

  constructor(
    root: HTMLElement,
    private runs: readonly Run[],
    private readonly options: ViewerOptions = {},
  ) {
    addStyles(root);
    const run = this.run;
    this.clock = new Clock(run.begin, defaultSpeed(run.end - run.begin));
    this.instant = { t: run.begin, side: "after" };
    this.box = make("div", {
      class: [
        "ns-viewer",
        options.compact ? "ns-compact" : "",
        options.isStill ? "ns-still" : "",
      ].join(" "),
      tabindex: -1,
    });
    root.append(this.box);
    this.observer = new ResizeObserver(() => {
      this.scene.resize();
      this.cover();
      this.draw();
    });
    this.darkness = matchMedia("(prefers-color-scheme: dark)");
    this.darkness.addEventListener("change", this.onDarkness);
    this.build();
    this.setState({ plots: defaultPlots(run), ...options.state });
    document.addEventListener("keydown", this.onKey);
    document.addEventListener("visibilitychange", this.onVisibility);
  }

  get scene(): Scene {
    return this.shownScene;
  }

  get isStill(): boolean {
    return this.options.isStill ?? false;
  }

  /** Say something of the run beside its title; null for how it ended. */
  setStatus(status: ViewerStatus | null): void {
    this.header.setStatus(status);
  }

  get isPlaying(): boolean {
    return this.clock.isPlaying;
  }

  private get run(): Run {
    const run = this.runs[0];
    if (!run) throw new Error("a viewer needs a run");
    return run;
  }

  private get theme(): Theme {
    return resolve(this.themeChoice);
  }

  // ---- building ------------------------------------------------------------------

  private build(): void {
    const { run } = this;
    const host = {
      seek: (t: number, side: Side = "after") => this.setTime(t, side),
      setRange: (range: [number, number] | null) => this.setRange(range),
      isEmbedded: this.options.compact ?? false,
    };
    this.events = new EventList(run);
    this.canvas = make("canvas", {
      class: "ns-canvas",
      test: "scene",
      role: "img",
      "aria-label": `moving picture of ${run.header.title}`,
    });
    this.legendBox = make("div", { class: "ns-legend-box" });
    const picture = make("div", { class: "ns-picture" }, this.canvas);
    this.tools = new Tools(run.header.spots.length > 0, {
      fit: () => this.scene.fit(),
      zoom: (factor) => this.scene.zoom(factor),
      toggle: (name) =>
        this.setState({ options: { [name]: !this.scene.options[name] } }),
    });
    const stage = make(
      "div",
      { class: "ns-stage" },
      picture,
      this.tools.root,
      this.legendBox,
    );
    this.transport = new Transport(
      {
        toggle: () => this.toggle(),
        previous: () => this.step(this.events.previous(this.instant.t)),
        next: () => this.step(this.events.next(this.instant.t)),
        setSpeed: (speed) => this.setState({ speed }),
        setSide: (side) => this.setTime(this.instant.t, side),
        setLoop: (loop) => this.setState({ loop }),
      },
      this.events.instants.length > 0,
    );
    this.timeline = new Timeline(run, this.events, host);
    const labels = this.options.labels ?? this.runs.map((r) => r.header.title);
    this.plots = new Plots(this.runs, labels, {
      ...host,
      plotsChanged: () => this.changed(),
      setDifference: (difference) => this.setState({ difference }),
      pick: (panel, button) => this.picker.open(panel, button),
    });
    this.energy = new Energy(run, host, this.plots.group);
    this.table = new EventTable(this.events, host);
    this.picker = new Picker(
      run,
      () => new Set(this.plots.plots.flat()),
      (name, panel) => this.plots.toggle(name, panel),
    );
    const pick: HTMLButtonElement = make(
      "button",
      {
        type: "button",
        class: "ns-text-button",
        test: "pick",
        title: "choose quantities to plot",
        onclick: () => this.picker.open(-1, pick),
      },
      icon("plus"),
      make("span", {}, "Quantities"),
    );
    this.pickButton = pick;
    this.header = new Header(run, this.events, this.isStill, {
      turnTheme: () => this.turnTheme(),
      plotted: () => this.plots.plots.flat(),
      film: () => this.record(),
      picture: () => this.photograph(),
    });
    const count = this.events.rows.length;
    this.tabs = new Tabs(
      [
        {
          name: "plots",
          label: "Plots",
          panel: make("div", {}, this.plots.runLegend(), this.plots.root),
        },
        { name: "energy", label: "Energy", panel: make("div", {}, this.energy.root) },
        {
          name: "events",
          label: count > 0 ? `Events ${count}` : "Events",
          panel: make("div", {}, this.table.root),
        },
        { name: "summary", label: "Summary", panel: make("div", {}, summary(run)) },
      ],
      () => {
        this.showTab(this.tabs.current);
        this.follow(true);
        this.changed();
      },
    );
    this.box.replaceChildren(
      make(
        "div",
        { class: "ns-frame" },
        this.header.root,
        stage,
        make(
          "div",
          { class: "ns-side" },
          make("div", { class: "ns-tabs-row" }, this.tabs.bar, pick),
          this.tabs.panels,
        ),
        make("div", { class: "ns-dock" }, this.transport.root, this.timeline.root),
      ),
      this.picker.root,
    );
    this.shownScene = new Scene(this.canvas, this.runs);
    const { fields, deformation } = this.shownScene;
    this.deformed = new Deformed(fields, deformation, (state) => this.setState(state));
    this.shownScene.onView = () => {
      this.draw();
      this.changed();
    };
    this.shownScene.wheelZooms = !this.options.compact;
    this.observer.observe(picture);
    this.transport.setSpeed(this.clock.speed);
  }

  /** Keep a fitted picture clear of what lies over it. */
  private cover(): void {
    const { left, top, bottom } = covered(this.canvas, [
      this.tools.root,
      this.legendBox,
    ]);
    this.scene.cover(left, 0, top, bottom);
  }

  // ---- state ---------------------------------------------------------------------

  state(): ViewerState {
    return {
      t: this.instant.t,
      side: this.instant.side,
      speed: this.clock.speed,
      plots: this.plots.plots,
      options: { ...this.scene.options },
      deformation: this.scene.deformation,
      field: this.scene.field,
      tab: this.tabs.current,
      theme: this.themeChoice,
      range: this.range,
      view: this.scene.isFitted ? null : this.scene.view,
      loop: this.isLooping,
      difference: this.plots.hasDifference,
    };
  }

  setState(state: Partial<ViewerState>): void {
    if (state.theme !== undefined) this.themeChoice = state.theme;
    if (state.theme !== undefined || !this.box.dataset.theme) this.applyTheme();
    if (state.options) {
      Object.assign(this.scene.options, state.options);
    }
    if (state.deformation !== undefined) this.scene.deformation = state.deformation;
    if (state.field !== undefined) this.scene.field = state.field;
    this.deformed.set(this.scene.deformation, this.scene.field);
    this.tools.show(this.scene.options);
    if (state.difference !== undefined) this.plots.setDifference(state.difference);
    if (state.plots) this.plots.setPlots(state.plots);
    if (state.speed !== undefined && state.speed > 0) {
      this.clock.setSpeed(state.speed, now());
      this.transport.setSpeed(state.speed);
    }
    if (state.loop !== undefined) {
      this.isLooping = state.loop;
      this.transport.setLoop(state.loop);
    }
    if (state.view === null) this.scene.fit();
    else if (state.view) this.scene.view = state.view;
    if (state.tab !== undefined) this.showTab(state.tab);
    if (state.range !== undefined) this.applyRange(state.range);
    if (state.t !== undefined || state.side !== undefined) {
      this.setTime(state.t ?? this.instant.t, state.side ?? this.instant.side);
    } else {
      this.draw();
      this.follow(true);
      this.changed();
    }
  }

  private showTab(name: string): void {
    this.tabs.show(name);
    this.pickButton.hidden = this.tabs.current !== "plots";
    this.table.reveal();
  }

  /** Tell the owner, not more often than it can use. */
  private changed(): void {
    if (!this.options.onState || this.report !== null) return;
    this.report = setTimeout(() => {
      this.report = null;
      this.options.onState?.(this.state());
    }, REPORTS * 1000);
  }

  /** Return the two one-sided values of a quantity at the time shown. */
  probe(name: string): Sides {
    return sides(this.run, name, this.instant.t);
  }

  private setRange(range: [number, number] | null): void {
    this.applyRange(range);
    this.changed();
  }

  private applyRange(range: [number, number] | null): void {
    const { begin, end } = this.run;
    const isPart =
      range !== null && range[0] < range[1] && range[0] < end && range[1] > begin;
    this.range = isPart ? [Math.max(begin, range[0]), Math.min(end, range[1])] : null;
    if (this.range && this.range[0] <= begin && this.range[1] >= end) this.range = null;
    this.timeline.setRange(this.range);
    this.plots.setRange(this.range);
    this.energy.setRange(this.range);
  }

  private readonly onDarkness = () => this.applyTheme();

  private turnTheme(): void {
    this.setState({ theme: NEXT_THEME[this.themeChoice] });
  }

  private applyTheme(): void {
    const { theme } = this;
    this.box.dataset.theme = theme;
    this.header.setTheme(this.themeChoice);
    this.scene.setTheme(theme);
    // Ghosts have the colours of their lines.
    this.scene.ghosts = this.runs.map((_, k) => lineColour(theme, k));
    this.legendBox.replaceChildren(legend(this.runs, theme), this.deformed.root);
    this.cover();
    this.timeline.setTheme(theme);
    this.plots.setTheme(theme);
    this.energy.setTheme(theme);
    this.table.setTheme(theme);
    this.draw();
  }

  // ---- time ----------------------------------------------------------------------

  setTime(t: number, side: Side = "after"): void {
    const { begin, end } = this.run;
    const bounded = Math.min(end, Math.max(begin, Number.isFinite(t) ? t : begin));
    this.clock.set(bounded, now());
    this.instant = { t: bounded, side };
    this.draw();
    this.follow(true);
    this.keepInSight();
    this.changed();
  }

  private step(t: number | null): void {
    if (t === null) return;
    this.pause();
    this.setTime(t, "after");
  }

  /** Move the range so that the time is in it. */
  private keepInSight(): void {
    if (!this.range) return;
    const [from, to] = this.range;
    const { t } = this.instant;
    if (t >= from && t <= to) return;
    const width = to - from;
    const { begin, end } = this.run;
    const low = Math.min(
      end - width,
      Math.max(begin, t - (t > to ? 0.05 : 0.5) * width),
    );
    this.applyRange([low, low + width]);
  }

  toggle(): void {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play(): void {
    if (this.isPlaying) return;
    const [begin, end] = this.span;
    if (this.instant.t >= end) this.instant = { t: begin, side: "after" };
    this.clock.set(this.instant.t, now());
    this.clock.play(now());
    this.transport.setPlaying(true);
    this.frame = requestAnimationFrame(this.onFrame);
  }

  pause(): void {
    if (!this.isPlaying) return;
    this.clock.pause(now());
    cancelAnimationFrame(this.frame);
    // What is seen stays, not what would have come.
    this.clock.set(this.instant.t, now());
    this.transport.setPlaying(false);
    this.film?.end(true);
    this.follow(true);
    this.changed();
  }

  /** What is played: with repetition what is seen on the timeline. */
  private get span(): [number, number] {
    const { begin, end } = this.run;
    return (this.isLooping || this.film) && this.range ? this.range : [begin, end];
  }

  private readonly onFrame = (): void => {
    const wall = now();
    const [begin, end] = this.span;
    let t = this.clock.at(wall);
    if (t >= end) {
      if (this.isLooping && end > begin) {
        // The rest of the frame belongs to the next turn.
        t = begin + ((t - begin) % (end - begin));
        this.clock.set(t, wall);
      } else {
        this.instant = { t: end, side: "after" };
        this.draw();
        this.pause();
        this.keepInSight();
        return;
      }
    }
    this.instant = { t, side: "after" };
    this.draw();
    const isDue = wall - this.lastValues >= VALUES;
    if (isDue) this.lastValues = wall;
    this.follow(isDue);
    this.keepInSight();
    if (isDue) this.changed();
    this.frame = requestAnimationFrame(this.onFrame);
  };

  /** While nobody looks, time stands still. */
  private readonly onVisibility = (): void => {
    if (!document.hidden && this.isPlaying) this.clock.set(this.instant.t, now());
  };

  private draw(): void {
    this.shownScene?.draw(this.instant);
  }

  /** Let everything around the scene follow the time. */
  private follow(withValues: boolean): void {
    const { t, side } = this.instant;
    const tab = this.tabs.current;
    this.timeline.setTime(t);
    const isAt = this.events.isAt(t);
    this.transport.setTime(
      this.timeText(isAt),
      side,
      isAt,
      isAt ? this.eventText() : "",
    );
    if (tab === "plots") this.plots.setTime(this.instant, withValues);
    if (tab === "energy") this.energy.setTime(this.instant, withValues);
    if (withValues && tab === "events") this.table.setTime(t);
  }

  private timeText(isAtEvent: boolean): string {
    const { t } = this.instant;
    const [from, to] = this.range ?? [this.run.begin, this.run.end];
    const pixel = to > from ? (to - from) / 2000 : 1e-3; // a run without steps
    let digits = decimals(Math.min(pixel, this.clock.speed * FRAME * 10));
    if (isAtEvent) digits = Math.max(digits, decimals(this.events.separation(t)));
    return `${t.toFixed(Math.min(12, digits))} s`;
  }

  private eventText(): string {
    const { rows, times } = this.events;
    const first = lower(times, this.instant.t);
    const row = rows[first];
    if (!row) return "";
    let n = 1;
    while (rows[first + n]?.t === row.t) n++;
    const more = n > 1 ? ` and ${n - 1} more` : "";
    return eventLine(row) + more;
  }

  // ---- films -------------------------------------------------------------------

  private photograph(): void {
    const name = fileName(this.run.header.title, ".png");
    this.canvas.toBlob((picture) => picture && download(name, picture));
  }

  /** Play what is seen on the timeline once, and save it as a film. */
  private record(): void {
    if (this.film) return;
    this.pause();
    this.setState({ loop: false });
    this.setTime(this.range?.[0] ?? this.run.begin);
    this.film = new Film(this.canvas, (film, ending) => {
      this.film = null;
      if (film) download(fileName(this.run.header.title, ending), film);
    });
    this.canvas.parentElement?.append(this.film.root);
    this.play();
  }

  // ---- keys ----------------------------------------------------------------------

  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    const target = event.composedPath()[0] ?? event.target;
    // In a page with other things in it, keys count where the focus is.
    const isInside = target instanceof Node && this.box.contains(target);
    if (!isInside && (this.options.compact || target !== document.body)) return;
    if (isTaken(target, event.key)) return;
    const what = action(event);
    if (!what) return;
    event.preventDefault();
    const { t } = this.instant;
    const step = this.clock.speed * FRAME;
    if (what === "toggle") this.toggle();
    if (what === "back" || what === "forward") {
      this.pause();
      this.setTime(t + (what === "back" ? -step : step));
    }
    if (what === "previous") this.step(this.events.previous(t));
    if (what === "next") this.step(this.events.next(t));
    if (what === "begin") this.setTime(this.run.begin);
    if (what === "end") this.setTime(this.run.end);
    if (what === "fit") this.scene.fit();
    if (what === "in") this.scene.zoom(ZOOM);
    if (what === "out") this.scene.zoom(1 / ZOOM);
    if (what === "side" && this.events.isAt(t)) {
      this.setTime(t, this.instant.side === "after" ? "before" : "after");
    }
  };

  // ---- runs ----------------------------------------------------------------------

  /** Show other runs; what is plotted stays where they have it. */
  setRuns(runs: readonly Run[], labels?: string[]): void {
    const state = this.state();
    const isSame = runs[0] === this.run;
    const wished = JSON.stringify(this.run.header.plots);
    this.pause();
    this.take();
    this.runs = runs;
    if (labels) this.options.labels = labels;
    else delete this.options.labels;
    this.build();
    const kept = state.plots
      .map((names) => names.filter((name) => runs.some((run) => run.has(name))))
      .filter((names) => names.length > 0);
    // A model that wishes for other plots than the one before gets them.
    const isKept = kept.length > 0 && wished === JSON.stringify(this.run.header.plots);
    const plots = isKept ? kept : defaultPlots(this.run);
    delete this.box.dataset.theme;
    const { deformation } = this.scene;
    const seen = isSame ? {} : { range: null, view: null, deformation };
    this.setState({ ...state, plots, ...seen });
  }

  /** Take down what `build` made. */
  private take(): void {
    this.observer.disconnect();
    this.scene.dispose();
    this.timeline.dispose();
    this.plots.dispose();
    this.energy.dispose();
    this.table.dispose();
  }

  dispose(): void {
    this.film?.end(false);
    this.pause();
    if (this.report !== null) clearTimeout(this.report);
    this.darkness.removeEventListener("change", this.onDarkness);
    document.removeEventListener("keydown", this.onKey);
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.take();
    this.box.remove();
  }
}

/** Show in words why there is nothing to see. */
export function showError(root: HTMLElement, error: unknown): void {
  addStyles(root);
  fillError(root, error);
}
