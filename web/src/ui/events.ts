/** The events of a run: records by name, and stepping from one to the next. */

import type { Scalar } from "../format";
import type { Run } from "../run";
import { shown } from "./numbers";
import { cleaned, roundOff } from "./round";

export interface EventRow {
  readonly index: number; // in the table
  readonly t: number; // s
  readonly element: string;
  readonly kind: string;
  readonly values: Readonly<Record<string, Scalar>>; // all fields
}

// Round-off of a time, as part of the run: an event this near to the start of an arc
// is the one that starts it.
const SAME = 1e-13;

export class EventList {
  readonly rows: readonly EventRow[];
  readonly times: Float64Array; // of the rows, ascending
  readonly instants: Float64Array; // the same, each once
  readonly kinds: readonly string[]; // by number of events
  readonly elements: readonly string[];

  constructor(private readonly run: Run) {
    const { columns, rows } = run.header.events;
    const slack = SAME * Math.max(run.end - run.begin, Math.abs(run.end));
    const list = rows.map((row, index) => {
      const values: Record<string, Scalar> = {};
      columns.forEach((name, k) => (values[name] = row[k] ?? null));
      return {
        index,
        t: snap(run, Number(values.t), slack),
        element: String(values.element ?? ""),
        kind: String(values.kind ?? ""),
        values,
      };
    });
    list.sort((a, b) => a.t - b.t || a.index - b.index);
    this.rows = list.map((row, index) => ({ ...row, index }));
    this.times = Float64Array.from(this.rows, (row) => row.t);
    this.instants = Float64Array.from(new Set(this.times));
    this.kinds = byCount(this.rows.map((row) => row.kind));
    this.elements = [...new Set(this.rows.map((row) => row.element))].sort();
  }

  /** Return the first instant of an event after t, or null. */
  next(t: number): number | null {
    return this.instants[upper(this.instants, t)] ?? null;
  }

  /** Return the last instant of an event before t, or null. */
  previous(t: number): number | null {
    return this.instants[lower(this.instants, t) - 1] ?? null;
  }

  isAt(t: number): boolean {
    return this.instants[lower(this.instants, t)] === t;
  }

  /** Return the row of the last event at or before t, the first of its instant; -1. */
  current(t: number): number {
    const last = upper(this.times, t) - 1;
    return last < 0 ? -1 : lower(this.times, this.times[last]!);
  }

  /** Return a pair of one-sided values of an event: "1.2 → 0". */
  pair(row: EventRow, name: string): string {
    const before = row.values[`${name}_before`];
    const after = row.values[`${name}_after`];
    if (typeof before !== "number" && typeof after !== "number") return "";
    const column = `${row.element}.${name}`;
    const least = this.run.has(column) ? roundOff(this.run, column) : 0;
    // What does not press does not slip.
    const isFree = (mode: unknown) =>
      name === "slip_velocity" && (mode === "open" || mode === "released");
    const modes = [row.values["before"], row.values["after"]];
    const [old, now] = [before, after].map((value, k) =>
      typeof value === "number" && !isFree(modes[k])
        ? shown(cleaned(value, least))
        : "–",
    );
    return old === now ? now! : `${old} → ${now}`;
  }

  /** Return the distance to the nearest other instant. */
  separation(t: number): number {
    const [before, after] = [this.previous(t), this.next(t)];
    return Math.min(
      before === null ? Infinity : t - before,
      after === null ? Infinity : after - t,
    );
  }
}

/** Return the time of the arc's start that an event stands for, else its own. */
function snap(run: Run, t: number, slack: number): number {
  const times = run.t;
  const k = lower(times, t - slack);
  const near = times[k];
  return near !== undefined && Math.abs(near - t) <= slack ? near : t;
}

function byCount(words: string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!);
}

/** Return the index of the first number at or above x. */
export function lower(numbers: Float64Array, x: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the index of the first number above x. */
export function upper(numbers: Float64Array, x: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What happens at an event of a kind, in words. */
export function kindLabel(kind: string): string {
  return kind.replaceAll("_", " ");
}

/** Return "slip+ → stick", or nothing where an event has no modes. */
export function modeChange(row: EventRow): string {
  const { before, after } = row.values;
  if (!before && !after) return "";
  const [old, now] = [before || "–", after || "–"].map((mode) => signed(String(mode)));
  return old === now ? now! : `${old} → ${now}`;
}

/** Return what an event is, in a line: "sole: stick, slip+ → stick". */
export function eventLine(row: EventRow): string {
  const change = modeChange(row);
  return `${row.element}: ${kindLabel(row.kind)}${change && `, ${change}`}`;
}

/** Modes with a true minus sign. */
export function signed(mode: string): string {
  return mode.replaceAll("-", "−");
}

/** The times a run is shown over; never empty. */
export function wholeRange(run: Run): [number, number] {
  return [run.begin, run.end > run.begin ? run.end : run.begin + 1];
}
