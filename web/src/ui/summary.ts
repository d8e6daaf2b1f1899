/** The tab with parameters and what the solver says of the run. */

import type { Parameter, Scalar } from "../format";
import type { Run } from "../run";
import { make } from "./dom";
import { residualText } from "./energy";
import { plain, shown } from "./numbers";
import { unitText } from "./units";

export function summary(run: Run): HTMLElement {
  const { header } = run;
  const { status, message, t_start, t_end, notes, options, cost, violation } =
    header.run;
  const facts: [string, string][] = [
    ["status", message ? `${status}: ${message}` : status],
    ["time", `${plain(t_start)} to ${plain(t_end)} s`],
    ["events", String(header.events.rows.length)],
    ["energy", residualText(run)],
    ["violation of constraints", `${shown(violation, 2)} m or rad`],
    [
      "samples",
      `${header.sampling.n}; lines between them keep to ` +
        `${plain(header.sampling.tolerance * 100, 2)} % of each quantity's range`,
    ],
    ["written by", header.generator],
  ];
  const precision = header.sampling.precision ?? 0;
  if (precision > 0) {
    facts.splice(-1, 0, [
      "rounding",
      `to ${shown(precision, 2)} of a quantity's range`,
    ]);
  }
  const sections = [
    table("Run", facts),
    notes.length > 0
      ? make(
          "section",
          {},
          make("h3", {}, "Notes"),
          make("ul", {}, ...notes.map((note) => make("li", {}, note))),
        )
      : null,
    header.parameters.length > 0 ? parameters(header.parameters) : null,
    table("Options", entries(options)),
    table("Cost", entries(cost)),
  ];
  return make("div", { class: "ns-summary" }, ...sections);
}

function entries(values: Record<string, Scalar>): [string, string][] {
  return Object.entries(values).map(([name, value]) => [
    name.replaceAll("_", " "),
    scalar(value),
  ]);
}

function scalar(value: Scalar): string {
  if (typeof value === "number") return plain(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value ?? "–";
}

function table(title: string, rows: [string, string][]): HTMLElement | null {
  if (rows.length === 0) return null;
  return make(
    "section",
    {},
    make("h3", {}, title),
    make(
      "dl",
      { class: "ns-facts" },
      ...rows.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]),
    ),
  );
}

function parameters(list: readonly Parameter[]): HTMLElement {
  return make(
    "section",
    {},
    make("h3", {}, "Parameters"),
    make(
      "table",
      { class: "ns-parameters" },
      make(
        "tbody",
        {},
        ...list.map(({ name, value, unit, meaning }) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, name),
            make("td", { class: "ns-number" }, scalar(value)),
            make("td", { class: "ns-unit" }, unitText(unit)),
            make("td", { class: "ns-soft" }, meaning.replaceAll("`", "")),
          ),
        ),
      ),
    ),
  );
}
