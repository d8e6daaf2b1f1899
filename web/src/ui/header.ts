/** The line above the picture: title, how the run ended, theme, and what can be saved. */

import type { Run } from "../run";
import { eventsCsv, fileName, samplesCsv } from "./csv";
import { download, icon, iconButton, make } from "./dom";
import type { EventList } from "./events";
import type { ThemeChoice } from "./theme";

/** What is said of a run; by default how it ended. */
export interface ViewerStatus {
  kind: "finished" | "stopped" | "failed" | "waiting";
  words: string;
  message: string;
}

export interface HeaderHost {
  turnTheme(): void;
  plotted(): string[];
  film(): void;
  picture(): void;
}

export class Header {
  readonly root: HTMLElement;
  private readonly theme: HTMLButtonElement;
  private readonly status = make("span", { class: "ns-status", test: "status" });
  private readonly message = make("span", { class: "ns-message" });

  constructor(
    private readonly run: Run,
    events: EventList,
    isStill: boolean,
    host: HeaderHost,
  ) {
    this.theme = iconButton("auto", "theme", () => host.turnTheme(), { test: "theme" });
    this.root = make(
      "header",
      { class: "ns-header" },
      make("h1", { class: "ns-title", test: "title" }, run.header.title),
      this.status,
      this.message,
      make("span", { class: "ns-space" }),
      this.theme,
      this.downloads(events, isStill, host),
    );
    this.setStatus(null);
  }

  setTheme(choice: ThemeChoice): void {
    this.theme.replaceChildren(icon(choice));
    const label = `theme: ${choice}`;
    this.theme.title = label;
    this.theme.setAttribute("aria-label", label);
  }

  /** Say something else of the run; null for how it ended. */
  setStatus(status: ViewerStatus | null): void {
    const { status: kind, message } = this.run.header.run;
    const shown = status ?? { kind, words: kind, message };
    this.status.className = `ns-status ns-${shown.kind}`;
    this.status.textContent = shown.words;
    this.status.title = shown.message;
    const isPlain = shown.kind === "finished" || shown.message === "";
    this.message.textContent = isPlain ? "" : shown.message;
    this.message.title = isPlain ? "" : shown.message;
    this.message.hidden = isPlain;
  }

  private downloads(
    events: EventList,
    isStill: boolean,
    host: HeaderHost,
  ): HTMLElement {
    const item = (label: string, test: string, act: () => void) =>
      make(
        "button",
        {
          type: "button",
          role: "menuitem",
          test,
          onclick: () => {
            menu.open = false;
            act();
          },
        },
        label,
      );
    const { run } = this;
    const { title } = run.header;
    const canFilm =
      typeof MediaRecorder !== "undefined" &&
      "captureStream" in HTMLCanvasElement.prototype;
    const ofRun = [
      canFilm && item("Film of the picture", "download-film", () => host.film()),
      item("Plotted quantities (CSV)", "download-csv", () =>
        download(fileName(title, ".csv"), samplesCsv(run, host.plotted())),
      ),
      item("All quantities (CSV)", "download-all-csv", () =>
        download(fileName(title, "-all.csv"), samplesCsv(run, run.names)),
      ),
      item("Events (CSV)", "download-events-csv", () =>
        download(
          fileName(title, "-events.csv"),
          eventsCsv(run.header.events.columns, events.rows),
        ),
      ),
    ];
    const menu = make(
      "details",
      { class: "ns-menu" },
      make(
        "summary",
        {
          class: "ns-button",
          test: "download",
          title: "download",
          "aria-label": "download",
        },
        icon("download"),
      ),
      make(
        "div",
        { class: "ns-menu-list", role: "menu" },
        item("Picture (PNG)", "download-png", () => host.picture()),
        ...(isStill ? [] : ofRun),
      ),
    );
    menu.addEventListener("focusout", (event) => {
      if (!menu.contains(event.relatedTarget as Node | null)) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape") menu.open = false;
    });
    return menu;
  }
}
