/** What part of the plane is seen: pan, zoom, fit, by hand or by program. */

export interface View {
  x: number; // m, in the middle of the canvas
  y: number;
  scale: number; // px per m
}

export type Box = readonly [number, number, number, number]; // left, low, right, high

// Room around a fitted box: a part of the canvas's smaller side, and pixels.
const MARGIN_PART = 0.06;
const MARGIN = 14;
// What is seen of a lone point, m.
const LONE = 1;
// Zoom, beside the scale that fits.
const LEAST_ZOOM = 0.02;
const MOST_ZOOM = 1e5;
// A wheel's notch is about 100; the factor for it.
const NOTCH = 1.2;

export class Camera {
  width = 1; // px of the style sheet, as everything here
  height = 1;
  /** What buttons and legends cover of the canvas, px. */
  covered = { left: 0, right: 0, top: 0, bottom: 0 };
  private current: View = { x: 0, y: 0, scale: 1 };
  private fitted = 1;

  get view(): View {
    return this.current;
  }

  set view(view: View) {
    const { x, y, scale } = view;
    if (Number.isFinite(x + y + scale) && scale > 0) this.current = { x, y, scale };
  }

  /** Show all of a box, beside what covers the borders of the canvas. */
  fit([left, low, right, high]: Box): void {
    const { covered } = this;
    const width = Math.max(this.width - covered.left - covered.right, 1);
    const height = Math.max(this.height - covered.top - covered.bottom, 1);
    const margin = MARGIN + MARGIN_PART * Math.min(width, height);
    const wide = Math.max(right - left, 0);
    const tall = Math.max(high - low, 0);
    const lone = wide === 0 && tall === 0 ? LONE : 0;
    const scale = Math.min(
      Math.max(width - 2 * margin, 0.5 * width) / (wide + lone || 1e-300),
      Math.max(height - 2 * margin, 0.5 * height) / (tall + lone || 1e-300),
    );
    this.fitted = scale;
    this.view = {
      x: 0.5 * (left + right) - (0.5 * (covered.left - covered.right)) / scale,
      y: 0.5 * (low + high) + (0.5 * (covered.top - covered.bottom)) / scale,
      scale,
    };
  }

  /** Zoom about a pixel, which keeps its place in the plane. */
  zoom(factor: number, px = 0.5 * this.width, py = 0.5 * this.height): void {
    if (!(factor > 0)) return;
    const least = LEAST_ZOOM * this.fitted;
    const most = MOST_ZOOM * this.fitted;
    const scale = Math.min(Math.max(this.current.scale * factor, least), most);
    const [x, y] = this.toPlane(px, py);
    this.view = {
      x: x - (px - 0.5 * this.width) / scale,
      y: y + (py - 0.5 * this.height) / scale,
      scale,
    };
  }

  /** Move the picture by pixels. */
  pan(dx: number, dy: number): void {
    const { x, y, scale } = this.current;
    this.view = { x: x - dx / scale, y: y + dy / scale, scale };
  }

  /** Pixels of a place in metres. */
  toScreen(x: number, y: number): [number, number] {
    const { x: x0, y: y0, scale } = this.current;
    return [0.5 * this.width + (x - x0) * scale, 0.5 * this.height - (y - y0) * scale];
  }

  /** Whether a disc, in pixels, is on the canvas. */
  isSeen(px: number, py: number, radius: number): boolean {
    return (
      px > -radius &&
      py > -radius &&
      px < this.width + radius &&
      py < this.height + radius
    );
  }

  /** Metres of a pixel. */
  toPlane(px: number, py: number): [number, number] {
    const { x, y, scale } = this.current;
    return [x + (px - 0.5 * this.width) / scale, y - (py - 0.5 * this.height) / scale];
  }
}

export interface Hands {
  pan(dx: number, dy: number): void;
  zoom(factor: number, px: number, py: number): void;
  fit(): void;
  /** Whether a turn of the wheel is for the scene, not for the page. */
  takesWheel(event: WheelEvent): boolean;
}

/** Let mouse and fingers move the picture; returns what ends it. */
export function listen(canvas: HTMLCanvasElement, hands: Hands): () => void {
  const fingers = new Map<number, [number, number]>();
  const place = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const wheel = (event: WheelEvent): void => {
    if (!hands.takesWheel(event)) return;
    event.preventDefault();
    // Lines and pages instead of pixels: a line is about a third of a notch.
    const pixels = event.deltaY * (event.deltaMode === 0 ? 1 : 33);
    const notches = Math.min(Math.max(pixels / 100, -3), 3);
    // A pinch on a touchpad comes as a wheel with the control key, in small steps.
    const power = event.ctrlKey && event.deltaMode === 0 ? 4 * notches : notches;
    hands.zoom(NOTCH ** -power, ...place(event));
  };
  const down = (event: PointerEvent): void => {
    if (event.pointerType === "mouse" && event.button > 1) return;
    fingers.set(event.pointerId, place(event));
    canvas.setPointerCapture?.(event.pointerId);
    canvas.style.cursor = "grabbing";
  };
  const move = (event: PointerEvent): void => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const after = place(event);
    if (fingers.size === 1) {
      hands.pan(after[0] - before[0], after[1] - before[1]);
    } else if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)![1];
      // The middle moves by half of what one finger moves.
      hands.pan(0.5 * (after[0] - before[0]), 0.5 * (after[1] - before[1]));
      const apart = Math.hypot(before[0] - other[0], before[1] - other[1]);
      const now = Math.hypot(after[0] - other[0], after[1] - other[1]);
      if (apart > 1 && now > 1) {
        hands.zoom(
          now / apart,
          0.5 * (after[0] + other[0]),
          0.5 * (after[1] + other[1]),
        );
      }
    }
    fingers.set(event.pointerId, after);
  };
  const up = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
    if (fingers.size === 0) canvas.style.cursor = "grab";
  };
  const double = (): void => hands.fit();
  canvas.style.cursor = "grab";
  canvas.style.touchAction = "none";
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("dblclick", double);
  return () => {
    canvas.removeEventListener("wheel", wheel);
    canvas.removeEventListener("pointerdown", down);
    canvas.removeEventListener("pointermove", move);
    canvas.removeEventListener("pointerup", up);
    canvas.removeEventListener("pointercancel", up);
    canvas.removeEventListener("dblclick", double);
  };
}
