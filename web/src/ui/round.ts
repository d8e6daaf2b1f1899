/** Telling numbers from round-off. */

import type { Run } from "../run";

const sizes = new WeakMap<Run, Map<string, number>>();

/** Return the largest absolute value of a quantity in a run. */
export function sizeOf(run: Run, name: string): number {
  return remembered(sizes, run, name, () => {
    let size = 0;
    for (const value of run.column(name)) size = Math.max(size, Math.abs(value) || 0);
    return size;
  });
}

const unitSizes = new WeakMap<Run, Map<string, number>>();

/** Return the largest absolute value of all quantities of a unit. */
export function sizeOfUnit(run: Run, unit: string): number {
  return remembered(unitSizes, run, unit, () => {
    const same = run.header.columns.filter((c) => !c.hidden && c.unit === unit);
    return same.reduce((size, { name }) => Math.max(size, sizeOf(run, name)), 0);
  });
}

function remembered(
  store: WeakMap<Run, Map<string, number>>,
  run: Run,
  key: string,
  compute: () => number,
): number {
  let known = store.get(run);
  if (!known) store.set(run, (known = new Map<string, number>()));
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = compute()));
  return value;
}

// Beside the largest value of a quantity, less than this is round-off; and beside the
// largest of its unit, since what should be zero has no size of its own.
const ROUND_OFF = 1e-9;
const ROUND_OFF_OF_UNIT = 1e-12;

/** Return below what size values of a quantity are round-off. */
export function roundOff(run: Run, name: string): number {
  const unit = ROUND_OFF_OF_UNIT * sizeOfUnit(run, run.unit(name));
  return Math.max(ROUND_OFF * sizeOf(run, name), unit);
}

/** Return a value as it is written: zero where it is but round-off. */
export function cleaned(value: number, least: number): number {
  return Math.abs(value) < least ? 0 : value;
}

/**
 * Return beside what size changes of a quantity are seen: places in double precision
 * may be far away, and what moves there is seen beside the picture.
 */
export function reachOf(run: Run, name: string): number {
  if (run.unit(name) !== "m" || !(run.column(name) instanceof Float64Array)) {
    return Infinity;
  }
  const [left, low, right, high] = run.header.box;
  return Math.max(right - left, high - low) || Infinity;
}

/** Return how many digits show what a quantity does; more for places far away. */
export function digitsOf(run: Run, name: string): number {
  const far = Math.log10(sizeOf(run, name) / reachOf(run, name));
  return Math.min(12, Math.max(4, 4 + Math.ceil(far))) || 4;
}

// Beside the largest value of its unit, what changes less is not seen to move.
const STILL = 1e-7;

/** Return whether a quantity is the same all along, as far as can be seen. */
export function isStill(run: Run, name: string): boolean {
  const size = sizeOfUnit(run, run.unit(name));
  const least = STILL * Math.min(size, reachOf(run, name));
  let [low, high] = [Infinity, -Infinity];
  for (const value of run.column(name)) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return !(high - low > least);
}
