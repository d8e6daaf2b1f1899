/** The event table: filters, rows, and all fields of the chosen event. */

import type { Side } from "../run";
import { make } from "./dom";
import { kindLabel, modeChange, signed, type EventList, type EventRow } from "./events";
import { decimals } from "./clock";
import { shown } from "./numbers";
import { kindColour, type Theme } from "./theme";
import { VirtualList } from "./list";

const ROW = 30; // px
const ROW_TOUCH = 40; // px, for a finger

export interface TableHost {
  seek(t: number, side: Side): void;
}

// Fields with two sides, and their units.
const PAIRS: [string, string, string][] = [
  ["slip_velocity", "slip velocity", "m/s"],
  ["normal_force", "normal force", "N"],
  ["friction_force", "friction force", "N"],
];

export class EventTable {
  readonly root = make("div", { class: "ns-events" });
  private readonly list: VirtualList;
  private readonly detail = make("div", {
    class: "ns-event-detail",
    test: "event-detail",
  });
  private readonly count = make("span", { class: "ns-soft" });
  private readonly kind: HTMLSelectElement;
  private readonly element: HTMLSelectElement;
  private shownRows: readonly EventRow[] = [];
  private current = -1; // row of the table
  private theme: Theme = "light";
  private readonly digits: number;

  constructor(
    private readonly events: EventList,
    private readonly host: TableHost,
  ) {
    let nearest = Infinity;
    const { instants } = events;
    for (let k = 1; k < instants.length; k++) {
      nearest = Math.min(nearest, instants[k]! - instants[k - 1]!);
    }
    this.digits = Math.min(9, decimals(nearest));
    this.kind = choice("all kinds", events.kinds, kindLabel, () => this.filter());
    this.kind.setAttribute("aria-label", "kind of event");
    this.kind.dataset.test = "filter-kind";
    this.element = choice("all elements", events.elements, String, () => this.filter());
    this.element.setAttribute("aria-label", "element");
    this.element.dataset.test = "filter-element";
    const coarse = globalThis.matchMedia?.("(pointer: coarse)").matches ?? false;
    this.list = new VirtualList(coarse ? ROW_TOUCH : ROW, (k) => this.row(k), {
      role: "listbox",
      "aria-label": "events",
    });
    this.list.root.addEventListener("keydown", (event) => this.key(event));
    const heads = ["t / s", "element", "event", "mode", "v_t / (m/s)", "N / N"];
    this.root.append(
      make("div", { class: "ns-event-filters" }, this.kind, this.element, this.count),
      this.detail,
      make(
        "div",
        { class: "ns-event-table", test: "event-table" },
        make(
          "div",
          { class: "ns-event-head", "aria-hidden": "true" },
          ...heads.map((text) => make("span", {}, text)),
        ),
        this.list.root,
      ),
    );
    this.filter();
  }

  private filter(): void {
    const { value: kind } = this.kind;
    const { value: element } = this.element;
    this.shownRows = this.events.rows.filter(
      (row) => (!kind || row.kind === kind) && (!element || row.element === element),
    );
    const [some, all] = [this.shownRows.length, this.events.rows.length];
    this.count.textContent =
      some === all ? `${all} events` : `${some} of ${all} events`;
    this.list.setCount(some);
    this.reveal();
  }

  private row(k: number): HTMLElement {
    const row = this.shownRows[k]!;
    const dot = make("i", { class: "ns-dot" });
    dot.style.background = kindColour(this.theme, row.kind);
    const node = make(
      "div",
      {
        class: "ns-event-row",
        test: "event-row",
        role: "option",
        "data-index": row.index,
        onclick: () => this.choose(row),
      },
      make("span", { class: "ns-number" }, row.t.toFixed(this.digits)),
      make("span", { title: row.element }, row.element),
      make("span", {}, dot, kindLabel(row.kind)),
      make("span", {}, modeChange(row)),
      make("span", { class: "ns-number" }, this.events.pair(row, "slip_velocity")),
      make("span", { class: "ns-number" }, this.events.pair(row, "normal_force")),
    );
    this.mark(node, row.index === this.current);
    return node;
  }

  private mark(node: HTMLElement, isCurrent: boolean): void {
    node.classList.toggle("ns-current", isCurrent);
    node.setAttribute("aria-selected", String(isCurrent));
  }

  private choose(row: EventRow): void {
    this.current = row.index;
    this.host.seek(row.t, "after");
    // Of several events at one time this one was meant.
    this.select(row.index);
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.shownRows.findIndex((row) => row.index >= this.current);
    const next =
      this.shownRows[Math.max(0, (at < 0 ? this.shownRows.length : at) + by)];
    if (next) this.choose(next);
  }

  /** Follow the animation: mark the last event before the time. */
  setTime(t: number): void {
    const current = this.events.rows[this.current];
    const last = this.events.current(t);
    if (current && last >= 0 && current.t === this.events.rows[last]!.t) return;
    if (last !== this.current) this.select(last);
  }

  private select(index: number): void {
    this.current = index;
    this.list.visit((k, row) => this.mark(row, this.shownRows[k]!.index === index));
    this.reveal();
    this.describe();
  }

  /** Scroll to the current row; called also when the table comes into sight. */
  reveal(): void {
    const k = this.shownRows.findIndex((row) => row.index >= this.current);
    if (this.current >= 0 && k >= 0) this.list.reveal(k);
  }

  private describe(): void {
    const row = this.events.rows[this.current];
    if (!row) {
      this.detail.replaceChildren(
        make("span", { class: "ns-soft" }, "before all events"),
      );
      return;
    }
    const fields: [string, string][] = [];
    const { before, after, cause, action } = row.values;
    if (before || after) {
      fields.push([
        "mode",
        `${signed(String(before || "–"))} → ${signed(String(after || "–"))}`,
      ]);
    }
    const known = new Set([
      "t",
      "element",
      "kind",
      "action",
      "before",
      "after",
      "cause",
    ]);
    for (const [name, label, unit] of PAIRS) {
      known.add(`${name}_before`).add(`${name}_after`);
      const text = this.events.pair(row, name);
      if (text) fields.push([label, `${text} ${unit}`]);
    }
    if (cause) fields.push(["caused by", String(cause)]);
    if (action && action !== "record") fields.push(["action", String(action)]);
    for (const [name, value] of Object.entries(row.values)) {
      if (known.has(name) || value === null || value === "") continue;
      const text = typeof value === "number" ? shown(value) : String(value);
      fields.push([name.replaceAll("_", " "), text]);
    }
    const dot = make("i", { class: "ns-dot" });
    dot.style.background = kindColour(this.theme, row.kind);
    this.detail.replaceChildren(
      make(
        "div",
        { class: "ns-event-title" },
        dot,
        make("b", {}, `${row.element} ${kindLabel(row.kind)}`),
        make(
          "span",
          { class: "ns-soft" },
          ` event ${row.index + 1} of ${this.events.rows.length} at ${Number(row.t.toPrecision(12))} s`,
        ),
      ),
      make(
        "dl",
        {},
        ...fields.map(([name, text]) =>
          make("div", {}, make("dt", {}, name), make("dd", {}, text)),
        ),
      ),
    );
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.list.refresh();
    this.describe();
  }

  dispose(): void {
    this.list.dispose();
    this.root.remove();
  }
}

function choice(
  all: string,
  values: readonly string[],
  label: (value: string) => string,
  onChange: () => void,
): HTMLSelectElement {
  return make(
    "select",
    { onchange: onChange },
    make("option", { value: "" }, all),
    ...values.map((value) => make("option", { value }, label(value))),
  );
}
