/** Tables as text, for spreadsheets and scripts. */

import type { Scalar } from "../format";
import type { Run } from "../run";
import type { EventRow } from "./events";

/** Return a float32 with as few digits as tell it apart. */
export function float32Text(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  for (const digits of [6, 7, 8]) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

// Digits of a run that are not round-off.
const DIGITS = 13;

/** Return a number of a column with as few digits as it is worth. */
function numberText(value: number, isDouble: boolean): string {
  if (Number.isNaN(value)) return "";
  return isDouble ? String(Number(value.toPrecision(DIGITS))) : float32Text(value);
}

/** Quote what would break a line of the table. */
export function cell(value: Scalar): string {
  if (value === null) return "";
  const text = String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Return quantities at all samples. The column `side` says "before" or "after" where two
 * rows have the same time, and is empty elsewhere.
 */
export function samplesCsv(run: Run, names: readonly string[]): string {
  const head = names.map((name) => {
    const unit = run.unit(name);
    return cell(unit ? `${name} [${unit}]` : name);
  });
  const columns = names.map((name) => run.column(name));
  const lines = [["t [s]", "side", ...head].join(",")];
  const { t } = run;
  for (let i = 0; i < t.length; i++) {
    // Of three rows at one time the middle one is after one event, before another.
    const isAfter = i > 0 && t[i] === t[i - 1];
    const side = isAfter ? "after" : t[i] === t[i + 1] ? "before" : "";
    const values = columns.map((column) =>
      numberText(column[i]!, column instanceof Float64Array),
    );
    lines.push([String(t[i]), side, ...values].join(","));
  }
  return lines.join("\n") + "\n";
}

/** Return events with all their fields. */
export function eventsCsv(
  columns: readonly string[],
  rows: readonly EventRow[],
): string {
  const lines = [columns.map(cell).join(",")];
  for (const row of rows) {
    lines.push(columns.map((name) => cell(row.values[name] ?? null)).join(","));
  }
  return lines.join("\n") + "\n";
}

/** Return a file name made of a title. */
export function fileName(title: string, ending: string): string {
  const plain = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return `${plain || "run"}${ending}`;
}
