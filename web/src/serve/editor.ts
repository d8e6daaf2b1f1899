/**
 * The text of a model: line numbers, colours, what may come next, and what is wrong
 * where it is wrong.
 *
 * A text area over a picture of its text; so typing, selecting and undoing are the
 * browser's own.
 */

import { make } from "../ui/dom";
import { complete, type Completion, type Schema } from "./complete";
import { ink } from "./ink";
import { lineOf } from "./outline";

export const EXAMPLE = `nonsmooth: 1
title: a rod on a pin
gravity: [0, -9.81]

bodies:
  - type: RigidBody
    name: rod
    mass: 2
    inertia: 0.1667
    position: [0.5, 0]
    points: {pin: [-0.5, 0], tip: [0.5, 0]}

joints:
  - {type: Revolute, name: pin, b: rod.pin}

run: {until: 2}
`;

const PAD = 8; // px, as in the style sheet

export class Editor {
  onChange: () => void = () => {};
  schema: Schema | null = null;
  isJson = false;
  readonly area = make("textarea", {
    class: "sv-text-area",
    test: "text",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    wrap: "off",
    "aria-label": "text of the model",
    "aria-describedby": "sv-text-help",
    "aria-autocomplete": "list",
  });
  private readonly picture = make("pre", { class: "sv-ink", "aria-hidden": "true" });
  private readonly gutter = make("pre", { class: "sv-gutter", "aria-hidden": "true" });
  private readonly probe = make(
    "span",
    { class: "sv-probe", "aria-hidden": "true" },
    "0",
  );
  private readonly list = make("ul", {
    class: "sv-suggest",
    test: "suggestions",
    role: "listbox",
    "aria-label": "what may come next",
    hidden: true,
  });
  private readonly faults = make("ul", {
    class: "sv-faults",
    test: "faults",
    "aria-live": "polite",
    hidden: true,
  });
  readonly root = make(
    "div",
    { class: "sv-editor" },
    make(
      "div",
      { class: "sv-code" },
      this.gutter,
      make("div", { class: "sv-page" }, this.picture, this.area, this.probe, this.list),
    ),
    this.faults,
    make(
      "p",
      { class: "sv-text-help", id: "sv-text-help" },
      "Ctrl+Space: what may come next. Ctrl+Enter: run.",
    ),
  );
  private open: Completion | null = null;
  private chosen = 0;
  private wrong = new Map<number, string>();

  constructor() {
    const { area } = this;
    area.addEventListener("input", (event) => {
      this.paint();
      const typed = (event as InputEvent).data ?? "";
      if (/[\w.:\s]$/.test(typed) || this.open) this.suggest(/\s$/.test(typed));
      this.onChange();
    });
    area.addEventListener("scroll", () => this.follow());
    area.addEventListener("keydown", (event) => this.onKey(event));
    area.addEventListener("click", () => this.close());
    area.addEventListener("blur", () => this.close());
    // Before the area loses the focus.
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const item = (event.target as HTMLElement).closest("li");
      if (item) this.accept([...this.list.children].indexOf(item));
    });
  }

  get text(): string {
    return this.area.value;
  }

  /** Show a text, if it is another. */
  show(text: string, isJson: boolean): void {
    this.isJson = isJson;
    if (text !== this.area.value) {
      this.area.value = text;
      this.area.setSelectionRange(0, 0);
      this.area.scrollTop = 0;
    }
    this.paint();
  }

  /** Show what is wrong, each where it is. */
  setFaults(messages: readonly string[]): void {
    this.wrong = new Map();
    const items = messages.map((message) => {
      const line = lineOf(message, this.text);
      if (line !== null && !this.wrong.has(line)) this.wrong.set(line, message);
      const words = message.replace(/^.*?\bline \d+(, column \d+)?: /, "");
      const place = line === null ? null : make("b", {}, `line ${line} `);
      return make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "sv-fault", onclick: () => this.go(line) },
          place,
          words,
        ),
      );
    });
    this.faults.replaceChildren(...items);
    this.faults.hidden = items.length === 0;
    this.paint();
  }

  /** Put the cursor on a line. */
  go(line: number | null): void {
    if (line === null) return;
    const rows = this.text.split("\n");
    const at = rows.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    const row = rows[line - 1] ?? "";
    this.area.focus();
    const from = at + row.length - row.trimStart().length;
    this.area.setSelectionRange(from, at + row.length);
    this.area.scrollTop = Math.max(0, (line - 4) * this.pitch[1]);
  }

  // ---- painting ------------------------------------------------------------------

  private paint(): void {
    const { text, wrong } = this;
    // A last line of its own keeps both of a height.
    this.picture.innerHTML = `${ink(text, new Set(wrong.keys()))}\n `;
    const rows = text.split("\n").map((_, k) => {
      const fault = wrong.get(k + 1);
      return make(
        "span",
        fault ? { class: "sv-bad-line", title: fault } : {},
        `${k + 1}\n`,
      );
    });
    this.gutter.replaceChildren(...rows, " ");
    this.follow();
  }

  private follow(): void {
    const { scrollTop, scrollLeft } = this.area;
    this.picture.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    this.gutter.style.transform = `translateY(${-scrollTop}px)`;
  }

  /** Width and height of a letter, px. */
  private get pitch(): [number, number] {
    const { width, height } = this.probe.getBoundingClientRect();
    return [width || 7, height || 18];
  }

  // ---- what may come next --------------------------------------------------------

  private suggest(isQuiet = false): void {
    const { area, schema } = this;
    const at = area.selectionStart;
    this.open = schema ? complete(schema, this.text, at, this.isJson) : null;
    // After a space only values are offered: a new line may be left empty.
    const isKey = this.text.slice(0, at).split("\n").at(-1)!.trim() === "";
    if (isQuiet && isKey) this.open = null;
    if (!this.open || area.selectionEnd !== at) {
      this.close();
      return;
    }
    this.chosen = 0;
    this.list.replaceChildren(
      ...this.open.items.map(({ label, detail }, k) =>
        make(
          "li",
          { role: "option", id: `sv-suggest-${k}` },
          make("b", {}, label),
          make("span", {}, detail),
        ),
      ),
    );
    this.list.hidden = false;
    this.mark();
    const rows = this.text.slice(0, this.open.from).split("\n");
    const [wide, high] = this.pitch;
    const left = PAD + rows.at(-1)!.length * wide - area.scrollLeft;
    const top = PAD + rows.length * high - area.scrollTop;
    const room = area.clientHeight - top;
    const isAbove = room < 120 && top > room + high;
    const most = Math.max(0, area.clientWidth - this.list.offsetWidth - 4);
    this.list.style.left = `${Math.min(Math.max(0, left), most)}px`;
    this.list.style.top = isAbove ? "" : `${top}px`;
    this.list.style.bottom = isAbove ? `${area.clientHeight - top + high}px` : "";
    this.list.style.maxHeight = `${Math.max(90, (isAbove ? top - high : room) - 8)}px`;
  }

  private mark(): void {
    [...this.list.children].forEach((item, k) => {
      item.setAttribute("aria-selected", String(k === this.chosen));
      if (k === this.chosen) item.scrollIntoView?.({ block: "nearest" });
    });
    this.area.setAttribute("aria-activedescendant", `sv-suggest-${this.chosen}`);
  }

  private close(): void {
    this.open = null;
    this.list.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  private accept(k: number): void {
    const { open } = this;
    const item = open?.items[k];
    if (!open || !item) return;
    const after = this.text.slice(open.to);
    // The rest of the word goes, too; and what is there is not written twice.
    const rest = /^[\w$]*/.exec(after)![0].length;
    let { insert } = item;
    if (/: $/.test(insert) && /^\s*:/.test(after.slice(rest))) {
      insert = insert.replace(/"?: $/, "");
    }
    this.close();
    this.area.setSelectionRange(open.from, open.to + rest);
    this.insert(insert);
    if (/: $|- $/.test(insert)) this.suggest();
  }

  /** Put in text so that it can be undone. */
  private insert(text: string): void {
    const { area } = this;
    area.focus();
    const isDone = document.execCommand?.("insertText", false, text) ?? false;
    if (isDone) return;
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  private onKey(event: KeyboardEvent): void {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === " " && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.suggest();
    } else if (this.open && isPlain) {
      const n = this.open.items.length;
      const step = { ArrowDown: 1, ArrowUp: n - 1 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        this.chosen = (this.chosen + step) % n;
        this.mark();
      } else if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        this.accept(this.chosen);
      } else if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        this.close();
      } else if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) {
        this.close();
      }
    } else if (event.key === "Enter" && isPlain && !event.shiftKey) {
      event.preventDefault();
      const row = this.text.slice(0, this.area.selectionStart).split("\n").at(-1)!;
      const lead = /^\s*(?:- )*/.exec(row)![0].length;
      const more = /[:{[]\s*$/.test(row) ? 2 : 0;
      this.insert(`\n${" ".repeat(lead + more)}`);
    }
  }
}
