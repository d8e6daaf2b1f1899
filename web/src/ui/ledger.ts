/**
 * The energy ledger as a stack: what there is, and what was taken, on top of each other
 *
 *     T + (V - V_min) + sum of taken = T_0 + (V_0 - V_min) + sum of supplied
 *
 * Elements whose work ends negative took energy, the others supplied it.
 */

import type { Numbers } from "../format";
import type { Run } from "../run";
import { sizeOf } from "./round";
import { extremes, visible } from "./series";

export interface Layer {
  readonly label: string;
  readonly columns: readonly string[]; // summed
  readonly sign: 1 | -1;
  readonly offset: number; // J, added
}

export interface Ledger {
  readonly layers: readonly Layer[]; // from below
  readonly supplies: readonly string[]; // columns of works that end positive
  readonly start: number; // J, what was there, above the least potential energy
}

// Works that never reach this part of the largest are left out.
const NOTHING = 1e-9;
const MOST_LAYERS = 6; // of works: the smaller ones are put together

/** Return the ledger of a run, or null if it has none. */
export function ledger(run: Run): Ledger | null {
  const { kinetic, potential, works } = run.header.energy;
  if (!run.has(kinetic) || !run.has(potential)) return null;
  const stored = run.column(potential);
  const floor = least(stored);
  const known = works.filter((name) => run.has(name));
  const largest = Math.max(0, ...known.map((name) => sizeOf(run, name)));
  const ends = known
    .filter((name) => sizeOf(run, name) > NOTHING * largest)
    .map((name) => ({ name, end: run.column(name).at(-1) ?? 0 }));
  const taken = ends.filter(({ end }) => end < 0).sort((a, b) => a.end - b.end);
  const layers: Layer[] = [
    { label: "kinetic", columns: [kinetic], sign: 1, offset: 0 },
    { label: "potential", columns: [potential], sign: 1, offset: -floor },
  ];
  const isMany = taken.length > MOST_LAYERS;
  for (const { name } of isMany ? taken.slice(0, MOST_LAYERS - 1) : taken) {
    layers.push({ label: workOf(name), columns: [name], sign: -1, offset: 0 });
  }
  if (isMany) {
    const rest = taken.slice(MOST_LAYERS - 1).map(({ name }) => name);
    layers.push({ label: `${rest.length} others`, columns: rest, sign: -1, offset: 0 });
  }
  return {
    layers,
    supplies: ends.filter(({ end }) => end >= 0).map(({ name }) => name),
    start: (run.column(kinetic)[0] ?? 0) + (stored[0] ?? 0) - floor,
  };
}

/** Return whose work a column is. */
export function workOf(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function least(numbers: Numbers): number {
  let low = Infinity;
  for (const value of numbers) if (value < low) low = value;
  return Number.isFinite(low) ? low : 0;
}

/** Return the height of one layer at a sample, J. */
export function height(run: Run, layer: Layer, i: number): number {
  let sum = layer.offset;
  for (const name of layer.columns) sum += layer.sign * run.column(name)[i]!;
  return sum;
}

export interface Stack {
  readonly t: Float64Array;
  readonly tops: readonly Float64Array[]; // upper edge of each layer, J
  readonly given: Float64Array; // start and supplies, J
}

/** Return the stack between two times at so many pixel columns. */
export function stack(
  run: Run,
  book: Ledger,
  from: number,
  to: number,
  columns: number,
): Stack {
  const chosen = indices(run, from, to, columns);
  const n = chosen.length;
  const t = Float64Array.from(chosen, (i) => run.t[i]!);
  const sum = new Float64Array(n);
  const tops = book.layers.map((layer) => {
    chosen.forEach((i, k) => (sum[k]! += height(run, layer, i)));
    return Float64Array.from(sum);
  });
  const given = new Float64Array(n).fill(book.start);
  for (const name of book.supplies) {
    const work = run.column(name);
    chosen.forEach((i, k) => (given[k]! += work[i]!));
  }
  return { t, tops, given };
}

/** Samples to draw: those where the kinetic energy has its extremes in each column. */
function indices(run: Run, from: number, to: number, columns: number): number[] {
  const kinetic = run.column(run.header.energy.kinetic);
  const [first, last] = visible(run.t, from, to);
  const width = (to - from) / Math.max(1, columns);
  const out: number[] = [];
  let i = first;
  while (i <= last) {
    const column = Math.floor((run.t[i]! - from) / width);
    let end = i + 1;
    while (end <= last && Math.floor((run.t[end]! - from) / width) === column) end++;
    out.push(...extremes(kinetic, i, end));
    i = end;
  }
  return out;
}
