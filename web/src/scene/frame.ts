/** A run at one instant: where bodies and markers are, what columns say. */

import type { Body, Marker } from "../format";
import type { Instant, Place, Pose, Run } from "../run";

export class Frame {
  place: Place = { i: 0, part: 0, t: 0 };
  /** Direction of gravity, or -y: rad. */
  readonly down: number;
  private readonly poses = new Map<string, Pose>();
  private readonly peaks = new Map<string, number>();

  constructor(readonly run: Run) {
    const [gx, gy] = run.header.gravity;
    this.down = gx === 0 && gy === 0 ? -0.5 * Math.PI : Math.atan2(gy, gx);
  }

  set(instant: Instant): void {
    this.place = this.run.locate(instant);
    this.poses.clear();
  }

  pose(body: string): Pose {
    let pose = this.poses.get(body);
    if (!pose) {
      pose = this.run.pose(body, this.place);
      this.poses.set(body, pose);
    }
    return pose;
  }

  /** Return the global place of a marker, m. */
  point(marker: Marker): [number, number] {
    const { x, y, theta } = this.pose(marker.body);
    const c = Math.cos(theta);
    const s = Math.sin(theta);
    const [p, q] = marker.point;
    return [x + c * p - s * q, y + s * p + c * q];
  }

  body(marker: Marker): Body | undefined {
    return this.run.bodies.get(marker.body);
  }

  isGround(marker: Marker): boolean {
    const body = this.body(marker);
    return !body || body.kind === "ground";
  }

  isSupport(marker: Marker): boolean {
    return this.body(marker)?.kind === "support";
  }

  /** Return a column's value, 0 where the run has none. */
  value(column: string | undefined): number {
    if (column === undefined || !this.run.has(column)) return 0;
    return this.run.value(column, this.place);
  }

  /** Return the largest size of a quantity, or of a vector of two, in the whole run. */
  peak(first: string, second?: string): number {
    const key = second === undefined ? first : `${first} ${second}`;
    let peak = this.peaks.get(key);
    if (peak === undefined) {
      peak = 0;
      if (this.run.has(first)) {
        const a = this.run.column(first);
        const b =
          second !== undefined && this.run.has(second) ? this.run.column(second) : null;
        for (let i = 0; i < a.length; i++) {
          const size = b ? Math.hypot(a[i]!, b[i]!) : Math.abs(a[i]!);
          if (size > peak) peak = size;
        }
      }
      this.peaks.set(key, peak);
    }
    return peak;
  }
}
