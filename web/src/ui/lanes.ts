/** What a timeline shows, as numbers: modes as spans, events as pixels. */

import type { Spot } from "../format";
import type { Run } from "../run";
import { lower, upper } from "./events";

/** Spans of one mode each; a span ends where the next begins. */
export interface Lane {
  readonly name: string;
  readonly starts: Float64Array; // s
  readonly modes: readonly string[];
  readonly end: number;
}

/** Return when a contact or joint was in which mode. */
export function modeLane(run: Run, spot: Spot): Lane {
  const codes = run.column(spot.mode);
  const starts: number[] = [];
  const modes: string[] = [];
  let last = NaN;
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === last) continue;
    last = codes[i]!;
    const t = run.t[i]!;
    // Of several changes at one instant the last counts.
    if (starts.length > 0 && starts[starts.length - 1] === t) {
      starts.pop();
      modes.pop();
    }
    starts.push(t);
    modes.push(run.mode(spot.mode, spot.can_stick, { i, part: 0, t }));
  }
  return { name: spot.name, starts: Float64Array.from(starts), modes, end: run.end };
}

export interface Span {
  from: number; // px
  to: number;
  mode: string;
}

/**
 * Return the spans seen between two times, in pixels. Of spans shorter than a pixel
 * the first is shown, so that there are never more than about two per pixel.
 */
export function visibleSpans(
  lane: Lane,
  from: number,
  to: number,
  width: number,
): Span[] {
  const scale = width / (to - from);
  const out: Span[] = [];
  let k = Math.max(0, upper(lane.starts, from) - 1);
  while (k < lane.starts.length && lane.starts[k]! <= to) {
    const mode = lane.modes[k]!;
    const begin = Math.max(0, (lane.starts[k]! - from) * scale);
    const end = Math.min(width, ((lane.starts[k + 1] ?? lane.end) - from) * scale);
    out.push({ from: begin, to: Math.max(end, begin + 1), mode });
    if (end - begin >= 1) k++;
    else k = Math.max(k + 1, upper(lane.starts, from + (begin + 1) / scale) - 1);
  }
  return out;
}

/** Return the whole pixels where there is an event, each once. */
export function visibleTicks(
  times: Float64Array,
  from: number,
  to: number,
  width: number,
): number[] {
  const scale = width / (to - from);
  const out: number[] = [];
  let k = lower(times, from);
  while (k < times.length && times[k]! <= to) {
    const pixel = Math.round((times[k]! - from) * scale);
    out.push(pixel);
    k = Math.max(k + 1, lower(times, from + (pixel + 0.5) / scale));
  }
  return out;
}
