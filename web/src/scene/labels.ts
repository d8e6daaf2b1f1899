/** Names that do not overlap. One that has no room is left out. */

import type { Pen } from "./pen";

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const HEIGHT = 15;
// Distance from the rim of a pin at the place it names, px.
const OFFSET = 4;
// Where a name may stand, best first: right of its place (1), left (-1) or across (0);
// rows above it.
const SEATS = [
  [1, 0.6],
  [1, -0.6],
  [-1, 0.6],
  [-1, -0.6],
  [0, 1.3],
  [0, -1.3],
  [1, 1.7],
  [1, -1.7],
  [-1, 1.7],
  [-1, -1.7],
] as const;

interface Seat {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export class Labels {
  private readonly widths = new Map<string, number>();
  // The seat a name had in the last picture is tried first, so that it does not jump.
  private readonly habits = new Map<string, number>();
  // Seats that are taken, by the rows of the canvas they touch: few to compare with.
  private rows: (Seat[] | undefined)[] = [];

  /** Forget the names of the last picture. */
  clear(): void {
    this.rows = [];
  }

  private isFree(seat: Seat): boolean {
    for (let row = rowOf(seat.top); row <= rowOf(seat.bottom); row++) {
      if (this.rows[row]?.some((other) => overlaps(seat, other))) return false;
    }
    return true;
  }

  private take(seat: Seat): void {
    for (let row = rowOf(seat.top); row <= rowOf(seat.bottom); row++) {
      (this.rows[row] ??= []).push(seat);
    }
  }

  /** Write a name beside a place in pixels; `key` tells names apart over time. */
  write(
    pen: Pen,
    key: string,
    words: string,
    x: number,
    y: number,
    colour: string,
  ): void {
    const { width, height } = pen.camera;
    if (x < 0 || y < 0 || x > width || y > height) return;
    const ctx = pen.ctx;
    ctx.font = FONT;
    let wide = this.widths.get(words);
    if (wide === undefined) {
      wide = ctx.measureText(words).width;
      this.widths.set(words, wide);
    }
    const off = OFFSET + 0.42 * pen.sizes.u;
    const habit = this.habits.get(key) ?? 0;
    for (let k = 0; k <= SEATS.length; k++) {
      // The habit first, then all from the best on.
      const choice = k === 0 ? habit : k - 1;
      const [side, up] = SEATS[choice]!;
      const left = x + (side === 0 ? -0.5 * wide : side > 0 ? off : -off - wide);
      const top = y - up * HEIGHT - 0.5 * HEIGHT;
      const seat = {
        left: left - 2,
        right: left + wide + 2,
        top,
        bottom: top + HEIGHT,
      };
      if (seat.left < 2 || seat.right > width - 2) continue;
      if (seat.top < 2 || seat.bottom > height - 2) continue;
      if (!this.isFree(seat)) continue;
      this.take(seat);
      this.habits.set(key, choice);
      ctx.textAlign = "left";
      ctx.textBaseline = "middle";
      ctx.lineJoin = "round";
      ctx.strokeStyle = pen.theme.colours.paper;
      ctx.lineWidth = 3.5;
      ctx.globalAlpha = 0.9;
      ctx.strokeText(words, left, top + 0.5 * HEIGHT);
      ctx.globalAlpha = 1;
      ctx.fillStyle = colour;
      ctx.fillText(words, left, top + 0.5 * HEIGHT);
      return;
    }
  }
}

function rowOf(y: number): number {
  return Math.floor(y / HEIGHT);
}

function overlaps(a: Seat, b: Seat): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
