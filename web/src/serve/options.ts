/** The fields of the solver's options. */

import { make } from "../ui/dom";
import type { Gallery } from "./api";

export interface OptionFields {
  root: HTMLDetailsElement;
  /** Return what was changed, as typed. */
  values(): Record<string, string>;
  set(values: Readonly<Record<string, string>>): void;
  /** Put a message at an option, if it is one; none elsewhere. */
  setError(name: string | null, message: string): boolean;
}

type Field = HTMLInputElement | HTMLSelectElement;

export function optionFields(
  { methods, schemes, branches }: Gallery,
  onChange: () => void,
): OptionFields {
  const fields = new Map<string, Field>();
  const errors = new Map<string, HTMLElement>();
  const rows: HTMLElement[] = [];
  const add = (name: string, what: string, field: Field) => {
    fields.set(name, field);
    field.id = `option-${name}`;
    field.dataset["test"] = `option-${name}`;
    field.addEventListener("input", onChange);
    const error = make("div", { class: "sv-error", role: "alert" });
    errors.set(name, error);
    const line = make("label", { for: field.id, class: "sv-name" }, name);
    const unit = ["step", "max_step"].includes(name) ? "s" : "";
    rows.push(
      make(
        "div",
        { class: "sv-param", title: what },
        make(
          "div",
          { class: "sv-line" },
          line,
          field,
          make("span", { class: "sv-unit" }, unit),
        ),
        error,
      ),
    );
  };
  const number = (placeholder: string) =>
    make("input", {
      type: "text",
      inputmode: "decimal",
      class: "sv-field",
      placeholder,
      autocomplete: "off",
    });
  const select = (names: readonly string[]) =>
    make(
      "select",
      {},
      ...names.map((name, k) => make("option", { value: k === 0 ? "" : name }, name)),
    );
  add("method", "how the motion is integrated", select(methods));
  add("rtol", "admissible error of a step, relative", number("1e-8"));
  add("atol", "the same, absolute; a hundredth of rtol by default", number("auto"));
  add("max_step", "largest step", number("none"));
  add("step", "step of rk4, euler, semi_implicit_euler", number("none"));
  add("scheme", "paper: fixed steps, for comparison", select(schemes));
  add(
    "branch",
    "what to do where friction in joints has several solutions",
    select(branches),
  );
  const box = make("input", { type: "checkbox" });
  add("assemble", "move an inconsistent start to the nearest consistent one", box);
  const root = make(
    "details",
    { test: "solver" },
    make("summary", {}, "Solver"),
    ...rows,
  );
  const isBox = (field: Field): field is HTMLInputElement =>
    field instanceof HTMLInputElement && field.type === "checkbox";
  return {
    root,
    values: () => {
      const found: Record<string, string> = {};
      for (const [name, field] of fields) {
        const text = isBox(field) ? (field.checked ? "true" : "") : field.value.trim();
        if (text !== "") found[name] = text;
      }
      return found;
    },
    set: (values) => {
      for (const [name, field] of fields) {
        const text = values[name] ?? "";
        if (isBox(field)) field.checked = text === "true";
        else field.value = text;
      }
      if (Object.keys(values).length > 0) root.open = true;
    },
    setError: (wanted, message) => {
      for (const [name, node] of errors) {
        node.textContent = name === wanted ? message : "";
        if (name === wanted) root.open = true;
      }
      return wanted !== null && errors.has(wanted);
    },
  };
}
