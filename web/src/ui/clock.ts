/** Time on the screen: speeds, and how it advances while playing. */

import { duration } from "./numbers";

/** Seconds of the run per second of watching, fast to slow. */
export const SPEEDS: readonly number[] = [
  10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4,
  5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6,
];

const ON_SCREEN = 10; // s, that a run lasts at the default speed

/**
 * Return the speed a run is first shown at: of all speeds up to real time the one at
 * which it lasts nearest to ten seconds, by ratio. One without duration: real time.
 */
export function defaultSpeed(seconds: number): number {
  let best = 1;
  const wanted = Math.log(seconds / ON_SCREEN);
  for (const speed of SPEEDS) {
    if (speed > 1) continue;
    const distance = Math.abs(Math.log(speed) - wanted);
    if (distance < Math.abs(Math.log(best) - wanted)) best = speed;
  }
  return best;
}

export function speedLabel(speed: number): string {
  if (speed === 1) return "1× real time";
  const factor = speed >= 1e-3 ? `${speed}×` : `${speed.toExponential()}×`;
  return speed > 1 ? factor : `${factor} · ${duration(speed)}/s`;
}

/**
 * The time of the animation as a function of the time on the wall. While playing,
 *
 *     t = t_0 + speed (wall - wall_0)
 *
 * from the last change of time or speed, so that nothing adds up over frames.
 */
export class Clock {
  private anchor: { wall: number; t: number } | null = null;

  constructor(
    private time: number,
    private rate: number,
  ) {}

  get isPlaying(): boolean {
    return this.anchor !== null;
  }

  get speed(): number {
    return this.rate;
  }

  /** Return the time at a moment, s by the wall. */
  at(wall: number): number {
    if (!this.anchor) return this.time;
    return this.anchor.t + this.rate * (wall - this.anchor.wall);
  }

  set(t: number, wall: number): void {
    this.time = t;
    if (this.anchor) this.anchor = { wall, t };
  }

  setSpeed(speed: number, wall: number): void {
    this.set(this.at(wall), wall);
    this.rate = speed;
  }

  play(wall: number): void {
    this.anchor = { wall, t: this.time };
  }

  pause(wall: number): void {
    this.time = this.at(wall);
    this.anchor = null;
  }
}

const MOST_DIGITS = 12;

/** Return how many decimals tell times apart that lie a distance apart. */
export function decimals(distance: number): number {
  if (!(distance > 0)) return MOST_DIGITS;
  return Math.min(MOST_DIGITS, Math.max(3, Math.ceil(-Math.log10(distance)) + 1));
}
