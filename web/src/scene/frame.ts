/** A run at one instant: where bodies and markers are, what columns say. */

import type { Body, Marker } from "../format";
import { toGlobal, type Instant, type Place, type Pose, type Run } from "../run";
import { skinsOf, type Skin } from "./mesh";

export class Frame {
  place: Place = { i: 0, part: 0, t: 0 };
  /** Direction of gravity, or -y: rad. */
  readonly down: number;
  /** Meshes of flexible bodies, and how much their deformation is enlarged. */
  readonly skins: ReadonlyMap<string, Skin>;
  scale = 1;
  private readonly poses = new Map<string, Pose>();
  private readonly peaks = new Map<string, number>();

  constructor(readonly run: Run) {
    this.skins = skinsOf(run);
    const [gx, gy] = run.header.gravity;
    this.down = gx === 0 && gy === 0 ? -0.5 * Math.PI : Math.atan2(gy, gx);
  }

  set(instant: Instant, scale = 1): void {
    this.place = this.run.locate(instant);
    this.poses.clear();
    this.scale = scale;
    for (const skin of this.skins.values()) skin.set(this.place, scale);
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
    const pose = this.pose(marker.body);
    const skin = this.skins.get(marker.body);
    const { node } = marker;
    if (!skin || node === undefined) return toGlobal(pose, marker.point);
    return toGlobal(pose, [skin.moved[2 * node]!, skin.moved[2 * node + 1]!]);
  }

  /** Return how much farther a marker is drawn than it is, m. */
  beyond({ body, node }: Marker): [number, number] {
    const skin = this.skins.get(body);
    if (!skin || node === undefined) return [0, 0];
    const { theta } = this.pose(body);
    const more = this.scale - 1;
    const [u, v] = [more * skin.shift[2 * node]!, more * skin.shift[2 * node + 1]!];
    return toGlobal({ x: 0, y: 0, theta }, [u, v]);
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
