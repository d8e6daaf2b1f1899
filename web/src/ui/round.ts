/** Telling numbers from round-off. */

import type { Run } from "../run";

const sizes = new WeakMap<Run, Map<string, number>>();

/** Return the largest absolute value of a quantity in a run. */
export function sizeOf(run: Run, name: string): number {
  let known = sizes.get(run);
  if (!known) sizes.set(run, (known = new Map<string, number>()));
  let size = known.get(name);
  if (size === undefined) {
    size = 0;
    for (const value of run.column(name)) size = Math.max(size, Math.abs(value) || 0);
    known.set(name, size);
  }
  return size;
}

// Beside the largest value of a quantity, less than this is round-off.
const ROUND_OFF = 1e-9;

/** Return a value as it is written: zero where it is but round-off. */
export function cleaned(value: number, size: number): number {
  return Math.abs(value) < ROUND_OFF * size ? 0 : value;
}
