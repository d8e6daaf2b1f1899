/** Choosing quantities: a list with a search field, grouped by element. */

import type { Run } from "../run";
import { make } from "./dom";

const MOST = 400; // rows shown at a time: the search field leads to the others

export interface Group {
  readonly element: string;
  readonly names: string[];
}

/** Return quantities grouped by element that hold all words of a search. */
export function grouped(names: readonly string[], search: string): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const low = name.toLowerCase();
    const spaced = low.replaceAll("_", " ");
    if (!words.every((word) => low.includes(word) || spaced.includes(word))) continue;
    const key = groupOf(name);
    const group = groups.get(key);
    if (group) group.push(name);
    else groups.set(key, [name]);
  }
  // An element may be called "work" as well: groups of their own, by the same word.
  return [...groups].map(([key, names]) => ({
    element: key.replace(/[.:]$/, ""),
    names,
  }));
}

/** Return how a name begins: "box." of an element, "work:" of the ledger. */
function groupOf(name: string): string {
  const cut = name.search(/[.:]/);
  return cut < 0 ? name : name.slice(0, cut + 1);
}

export class Picker {
  readonly root: HTMLDialogElement;
  private readonly field: HTMLInputElement;
  private readonly list = make("div", { class: "ns-picker-list" });
  private target = -1;
  private opener: HTMLElement | null = null;
  private readonly opened = new Set<string>();

  constructor(
    private readonly run: Run,
    private readonly chosen: () => Set<string>,
    private readonly toggle: (name: string, panel: number) => void,
  ) {
    this.field = make("input", {
      type: "search",
      placeholder: "search, e.g. left force",
      "aria-label": "search quantities",
      oninput: () => this.fill(),
    });
    this.root = make(
      "dialog",
      { class: "ns-picker", test: "picker", "aria-label": "quantities to plot" },
      make(
        "div",
        { class: "ns-picker-head" },
        this.field,
        make(
          "button",
          { type: "button", class: "ns-text-button", onclick: () => this.close() },
          "Done",
        ),
      ),
      this.list,
    );
    this.root.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.close();
    });
    // A click beside the list closes it.
    this.root.addEventListener("click", (event) => {
      if (event.target === this.root) this.close();
    });
    this.root.addEventListener("close", () => this.opener?.focus());
  }

  open(panel: number, opener: HTMLElement): void {
    this.target = panel;
    this.opener = opener;
    this.field.value = "";
    for (const name of this.chosen()) this.opened.add(groupOf(name));
    this.fill();
    if (!this.root.open) this.root.showModal();
    this.field.focus();
  }

  close(): void {
    this.root.close();
  }

  private fill(): void {
    const search = this.field.value;
    const groups = grouped(this.run.names, search);
    const chosen = this.chosen();
    const isOpen = search.trim() !== "" || groups.length <= 3;
    let left = MOST;
    const nodes: HTMLElement[] = [];
    for (const { element, names } of groups) {
      const key = groupOf(names[0]!);
      if (left <= 0) break;
      const rows = make("div", { class: "ns-picker-rows" });
      const fill = () => {
        if (rows.childElementCount > 0) return;
        rows.append(...names.slice(0, MOST).map((name) => this.row(name, chosen)));
      };
      const details = make(
        "details",
        {},
        make(
          "summary",
          {},
          make("b", {}, element),
          make("span", { class: "ns-soft" }, ` ${names.length}`),
        ),
        rows,
      );
      if (isOpen || this.opened.has(key)) {
        details.open = true;
        fill();
        left -= names.length;
      } else left -= 1;
      details.addEventListener("toggle", () => {
        if (details.open) this.opened.add(key);
        else this.opened.delete(key);
        fill();
      });
      nodes.push(details);
    }
    if (nodes.length === 0) {
      nodes.push(make("p", { class: "ns-empty" }, "No quantity has these words."));
    } else if (left <= 0) {
      nodes.push(make("p", { class: "ns-empty" }, "More: search to find them."));
    }
    this.list.replaceChildren(...nodes);
  }

  private row(name: string, chosen: Set<string>): HTMLElement {
    const box = make("input", {
      type: "checkbox",
      checked: chosen.has(name),
      "data-name": name,
      onchange: () => this.toggle(name, this.target),
    });
    return make(
      "label",
      { class: "ns-picker-row" },
      box,
      make("span", {}, name.slice(groupOf(name).length) || name),
      make("span", { class: "ns-soft" }, this.run.unit(name)),
    );
  }
}
