/** The parameters of a system or model as sliders and fields. */

import { make } from "../ui/dom";
import { unitText } from "../ui/units";
import type { ParameterInfo } from "./api";
import { scaleOf, shown, type Scale } from "./scale";

const MANY = 24; // fields of a model beyond which groups are folded

interface Row {
  info: ParameterInfo;
  node: HTMLElement;
  error: HTMLElement;
  read(): string;
  write(text: string): void;
}

export class Form {
  readonly root = make("div", { class: "sv-form" });
  onChange: () => void = () => {};
  private rows: Row[] = [];

  /** Show parameters, with what was changed in them. */
  show(infos: readonly ParameterInfo[], values: Record<string, string>): void {
    this.rows = infos.map((info) => this.row(info));
    this.root.replaceChildren(...this.groups());
    this.setValues(values);
  }

  get infos(): ParameterInfo[] {
    return this.rows.map((row) => row.info);
  }

  /** What differs from the defaults, as typed. */
  values(): Record<string, string> {
    const changed: Record<string, string> = {};
    for (const row of this.rows) {
      const text = row.read();
      if (isChanged(row.info, text)) changed[row.info.name] = text;
    }
    return changed;
  }

  setValues(values: Record<string, string>): void {
    for (const row of this.rows) {
      row.write(values[row.info.name] ?? shown(row.info.default));
      this.mark(row);
    }
  }

  reset(): void {
    this.setValues({});
    this.onChange();
  }

  /** Put a message at the parameter it is about; false if there is none such. */
  setError(name: string | null, message: string): boolean {
    let isPlaced = false;
    for (const row of this.rows) {
      const isIt = row.info.name === name;
      row.error.textContent = isIt ? message : "";
      row.node.classList.toggle("sv-wrong", isIt);
      if (!isIt) continue;
      isPlaced = true;
      const fold = row.node.closest("details");
      if (fold) fold.open = true;
    }
    return isPlaced;
  }

  /** Fields of a model stand under the element they belong to. */
  private groups(): HTMLElement[] {
    if (!this.rows.some((row) => row.info.name.includes("."))) {
      return this.rows.map((row) => row.node);
    }
    const groups = new Map<string, HTMLElement[]>();
    for (const row of this.rows) {
      const owner = row.info.name.split(".")[0]!;
      groups.set(owner, [...(groups.get(owner) ?? []), row.node]);
    }
    return [...groups].map(([owner, nodes]) =>
      make(
        "details",
        { class: "sv-group", open: this.rows.length <= MANY },
        make("summary", {}, owner),
        ...nodes,
      ),
    );
  }

  private row(info: ParameterInfo): Row {
    const id = `param-${info.name}`;
    const [, ...path] = info.name.split(".");
    const name = path.length > 0 ? path.join(".") : info.name;
    const changed = () => {
      this.mark(row);
      this.onChange();
    };
    const reset = make(
      "button",
      {
        type: "button",
        class: "sv-reset",
        title: `back to ${shown(info.default) || "what is set by others"}`,
        "aria-label": `reset ${info.name}`,
        onclick: () => {
          row.write(shown(info.default));
          changed();
        },
      },
      "↺",
    );
    const control = controlOf(info, id, changed);
    const error = make("div", { class: "sv-error", role: "alert", id: `${id}-error` });
    control.field.setAttribute("aria-describedby", `${id}-error`);
    const node = make(
      "div",
      { class: "sv-param", title: hint(info) },
      make(
        "div",
        { class: "sv-line" },
        make("label", { for: id, class: "sv-name" }, name),
        reset,
        control.field,
        make("span", { class: "sv-unit" }, unitText(info.unit)),
      ),
      control.slider,
      make("div", { class: "sv-meaning" }, meaning(info)),
      error,
    );
    const row: Row = { info, node, error, read: control.read, write: control.write };
    return row;
  }

  private mark(row: Row): void {
    row.node.classList.toggle("sv-changed", isChanged(row.info, row.read()));
  }
}

interface Control {
  field: HTMLElement;
  slider: HTMLElement | null;
  read(): string;
  write(text: string): void;
}

function controlOf(info: ParameterInfo, id: string, changed: () => void): Control {
  if (info.type === "bool") {
    const box = make("input", { type: "checkbox", id, test: id, onchange: changed });
    return {
      field: box,
      slider: null,
      read: () => String(box.checked),
      write: (text) => (box.checked = text === "true"),
    };
  }
  if (info.type === "choice") {
    const options = info.choices.map((name) => make("option", { value: name }, name));
    if (info.default === null) options.unshift(make("option", { value: "" }, "–"));
    const select = make("select", { id, test: id, onchange: changed }, ...options);
    return {
      field: select,
      slider: null,
      read: () => select.value,
      write: (text) => (select.value = text),
    };
  }
  const scale = scaleOf(info);
  const slider = scale && sliderOf(info, id);
  const field = make("input", {
    type: "text",
    id,
    test: id,
    class: "sv-field",
    inputmode: info.type === "str" ? "text" : "decimal",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: info.default === null ? "auto" : null,
    oninput: () => {
      follow();
      changed();
    },
    onkeydown: (event: KeyboardEvent) => nudge(event),
  });
  const follow = () => {
    if (scale && slider) place(slider, scale, Number(field.value));
  };
  // Arrows up and down in a field move it by a place of its slider.
  const nudge = (event: KeyboardEvent) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const value = Number(field.value);
    if (!way || !scale || !Number.isFinite(value)) return;
    event.preventDefault();
    const at = Math.min(Math.max(scale.toPlace(value) + way, 0), scale.steps);
    field.value = shown(scale.toValue(at));
    follow();
    changed();
  };
  if (scale && slider) {
    slider.max = String(scale.steps);
    slider.addEventListener("input", () => {
      field.value = shown(scale.toValue(Number(slider.value)));
      place(slider, scale, Number(field.value));
      changed();
    });
  }
  return {
    field,
    slider,
    read: () => field.value,
    write: (text) => {
      field.value = text;
      follow();
    },
  };
}

function sliderOf(info: ParameterInfo, id: string): HTMLInputElement {
  return make("input", {
    type: "range",
    class: "sv-slider",
    test: `slider-${info.name}`,
    min: 0,
    step: 1,
    "aria-label":
      `${info.name}, ${info.low} to ${info.high} ${unitText(info.unit)}`.trim(),
    "data-for": id,
  });
}

/** Move a slider; the part of it that is filled is seen by the style sheet. */
function place(slider: HTMLInputElement, scale: Scale, value: number): void {
  const at = Number.isFinite(value) ? scale.toPlace(value) : 0;
  slider.value = String(at);
  slider.style.setProperty("--at", `${(100 * at) / scale.steps}%`);
}

function isChanged(info: ParameterInfo, text: string): boolean {
  const trimmed = text.trim();
  if (trimmed === shown(info.default)) return false;
  if (typeof info.default !== "number" || trimmed === "") return true;
  return Number(trimmed) !== info.default;
}

function meaning(info: ParameterInfo): string {
  return info.meaning.replaceAll("`", "");
}

function hint(info: ParameterInfo): string {
  const unit = info.unit === "1" ? "" : ` ${unitText(info.unit)}`;
  const range =
    info.low === null || info.high === null
      ? ""
      : `\nslider: ${shown(info.low)} to ${shown(info.high)}${unit}`;
  const usual =
    info.default === null ? "set by others" : `${shown(info.default)}${unit}`;
  return `${meaning(info)}${range}\ndefault: ${usual}`.trim();
}
