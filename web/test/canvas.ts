/** A canvas that writes down what is drawn on it, for tests without a browser. */

export interface Ink {
  kind: "fill" | "stroke" | "text" | "rect";
  colour: string;
  alpha: number;
  width: number; // of a stroke
  words: string; // of a text
  clipped: boolean; // drawn inside a clipped area
  points: [number, number][]; // of the path, or the place of a text
  arcs: { x: number; y: number; radius: number; sweep: number }[];
}

type Listener = (event: unknown) => void;

export class FakeCanvas {
  width = 0;
  height = 0;
  style: Record<string, string> = {};
  inks: Ink[] = [];
  listeners = new Map<string, Listener>();

  constructor(
    public clientWidth = 800,
    public clientHeight = 600,
  ) {}

  /** As an element of a page, which is all that the scene asks of it. */
  get element(): HTMLCanvasElement {
    return this as unknown as HTMLCanvasElement;
  }

  addEventListener(kind: string, listener: Listener): void {
    this.listeners.set(kind, listener);
  }

  removeEventListener(kind: string): void {
    this.listeners.delete(kind);
  }

  /** Let something happen to the canvas. */
  fire(kind: string, event: Record<string, unknown>): void {
    this.listeners.get(kind)?.({ preventDefault: () => {}, ...event });
  }

  getBoundingClientRect(): { left: number; top: number } {
    return { left: 0, top: 0 };
  }

  getContext(): unknown {
    let points: Ink["points"] = [];
    let arcs: Ink["arcs"] = [];
    let depth = 0;
    let clippedAt = Infinity;
    const context = {
      fillStyle: "",
      strokeStyle: "",
      globalAlpha: 1,
      lineWidth: 1,
      font: "",
      setTransform: () => {},
      setLineDash: () => {},
      beginPath: () => {
        points = [];
        arcs = [];
      },
      moveTo: (x: number, y: number) => void points.push([x, y]),
      lineTo: (x: number, y: number) => void points.push([x, y]),
      closePath: () => {},
      arc: (x: number, y: number, radius: number, begin: number, end: number) =>
        void arcs.push({ x, y, radius, sweep: end - begin }),
      save: () => void depth++,
      restore: () => {
        depth--;
        if (depth < clippedAt) clippedAt = Infinity;
      },
      clip: () => void (clippedAt = depth),
      measureText: (words: string) => ({ width: 6 * words.length }),
      fill: () => add("fill", context.fillStyle),
      stroke: () => add("stroke", context.strokeStyle),
      fillRect: () => add("rect", context.fillStyle),
      strokeText: () => {},
      fillText: (words: string, x: number, y: number) =>
        add("text", context.fillStyle, words, [[x, y]]),
    };
    const add = (
      kind: Ink["kind"],
      colour: string,
      words = "",
      at: Ink["points"] = [...points],
    ): void => {
      this.inks.push({
        kind,
        colour,
        alpha: context.globalAlpha,
        width: context.lineWidth,
        words,
        clipped: depth >= clippedAt,
        points: at,
        arcs: [...arcs],
      });
    };
    return context;
  }
}
