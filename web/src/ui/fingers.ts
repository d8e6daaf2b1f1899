/** Fingers on an axis of times: one moves, two zoom. */

// The narrowest range, as part of the run: round-off of times stays below a pixel.
const NARROWEST = 1e-11;

type Range = readonly [number, number];

/** Return a range widened about a time, within limits; null for all. */
export function zoomed(
  [from, to]: Range,
  at: number,
  factor: number,
  [begin, end]: Range,
): [number, number] | null {
  const ratio = Math.max(factor, narrowest(begin, end) / (to - from));
  const low = at - (at - from) * ratio;
  const high = at + (to - at) * ratio;
  if (low <= begin && high >= end) return null;
  return [Math.max(begin, low), Math.min(end, high)];
}

function narrowest(begin: number, end: number): number {
  return NARROWEST * Math.max(end - begin, Math.abs(end));
}

/**
 * Return the range that keeps the times of two fingers under them; null for all,
 * undefined where they say nothing.
 */
export function pinched(
  [from, to]: Range,
  old: Range, // px from the left end of the axis
  now: Range,
  width: number, // px, of the axis
  [begin, end]: Range,
): [number, number] | null | undefined {
  const distance = now[1] - now[0];
  // Fingers that cross or touch say nothing.
  if (Math.abs(distance) < 10 || distance * (old[1] - old[0]) <= 0) return undefined;
  const scale = (((to - from) / width) * (old[1] - old[0])) / distance; // s/px
  const wide = Math.max(narrowest(begin, end), scale * width);
  const low = Math.max(begin, from + ((to - from) / width) * old[0] - now[0] * scale);
  const high = Math.min(end, low + wide);
  return low <= begin && high >= end ? null : [low, high];
}

/** Return a range moved by a time, within limits; null where it cannot move. */
export function shifted(
  [from, to]: Range,
  by: number,
  [begin, end]: Range,
): [number, number] | null {
  const bounded = Math.min(end - to, Math.max(begin - from, by));
  return bounded === 0 ? null : [from + bounded, to + bounded];
}

export interface TouchHost {
  readonly range: Range;
  readonly limits: Range; // of the whole run
  readonly width: number; // px
  seek(t: number): void;
  setRange(range: [number, number] | null): void;
}

const STILL = 6; // px, a shorter way is a tap

/**
 * Let fingers move a chart: one moves what is seen, or the time where all is seen; two
 * zoom. Up and down stays with the page.
 */
export function listenToFingers(node: HTMLElement, host: TouchHost): void {
  const fingers = new Map<number, number>(); // where each is, px
  let start = 0;
  let isMoving = false;
  const place = (event: PointerEvent) =>
    event.clientX - node.getBoundingClientRect().left;
  node.style.touchAction = "pan-y";
  node.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    fingers.set(event.pointerId, place(event));
    start = place(event);
    isMoving = false;
  });
  node.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const after = place(event);
    const [from, to] = host.range;
    const [begin, end] = host.limits;
    const scale = (to - from) / Math.max(1, host.width);
    if (fingers.size === 2) {
      const old = [...fingers.values()] as [number, number];
      fingers.set(event.pointerId, after);
      const now = [...fingers.values()] as [number, number];
      const range = pinched(host.range, old, now, host.width, host.limits);
      if (range !== undefined) host.setRange(range);
      return;
    }
    isMoving ||= Math.abs(after - start) > STILL;
    if (!isMoving || fingers.size > 2) return;
    fingers.set(event.pointerId, after);
    if (from > begin || to < end) {
      const range = shifted(host.range, (before - after) * scale, host.limits);
      if (range) host.setRange(range);
    } else host.seek(Math.min(to, Math.max(from, from + after * scale)));
  });
  const stop = (event: PointerEvent) => fingers.delete(event.pointerId);
  node.addEventListener("pointerup", stop);
  node.addEventListener("pointercancel", stop);
}
