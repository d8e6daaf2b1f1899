/** Colours of the scene, light and dark. Bodies and modes bring theirs. */

export type ThemeName = "light" | "dark";

export interface Colours {
  paper: string;
  ink: string; // outlines and text
  pale: string; // ground, guides
  text: string; // words beside the picture
  grid: string;
  drive: string; // what is prescribed
  load: string; // what is applied
  spring: string;
  normal: string; // forces in contacts
  friction: string;
  fill: number; // how strong the areas of bodies are
}

export const THEMES: Record<ThemeName, Colours> = {
  light: {
    paper: "#ffffff",
    ink: "#2a2e35",
    pale: "#868c96",
    text: "#5b6875",
    grid: "#eff1f4",
    drive: "#c25400",
    load: "#3f4856",
    spring: "#00805d",
    normal: "#b0306f",
    friction: "#6f45c9",
    fill: 0.2,
  },
  dark: {
    paper: "#15181d",
    ink: "#e4e7ec",
    pale: "#8b929d",
    text: "#96a3b0",
    grid: "#1f242b",
    drive: "#ff9248",
    load: "#c6ced9",
    spring: "#3fcf9f",
    normal: "#ff7fb8",
    friction: "#b49bff",
    fill: 0.26,
  },
};

// Colours of the palette are made for white paper; on a dark one they are mixed with
// white by this part.
const LIGHTEN = 0.36;
// Contrast of text and paper that can be read: WCAG 2.2, level AA.
const READABLE = 4.5;
// Below this lightness (0 to 255) a colour counts as black, drawn as ink.
const BLACK = 40;

export class Theme {
  readonly name: ThemeName;
  readonly colours: Colours;
  private readonly seen = new Map<string, string>();
  private readonly read = new Map<string, string>();
  private readonly mixed = new Map<string, Map<number, string>>();

  constructor(name: ThemeName) {
    this.name = name;
    this.colours = THEMES[name];
  }

  /** Return a body's colour as it is seen on this paper. */
  body(colour: string | null): string {
    if (colour === null) return this.colours.pale;
    let out = this.seen.get(colour);
    if (out === undefined) {
      out = this.adapt(colour);
      this.seen.set(colour, out);
    }
    return out;
  }

  /** Return the colour in which a body's name can be read. */
  words(colour: string | null): string {
    if (colour === null) return this.colours.text;
    let out = this.read.get(colour);
    if (out === undefined) this.read.set(colour, (out = this.darken(colour)));
    return out;
  }

  /** Mix with ink, as little as needed. */
  private darken(colour: string): string {
    const own = this.body(colour);
    for (let part = 1; part > 0; part -= 0.1) {
      const mixed = mix(own, this.colours.ink, part);
      if (contrast(mixed, this.colours.paper) >= READABLE) return mixed;
    }
    return this.colours.ink;
  }

  private adapt(colour: string): string {
    const rgb = parse(colour);
    if (!rgb || this.name === "light") return colour;
    if (Math.max(...rgb) < BLACK) return this.colours.ink;
    return mix(colour, "#ffffff", 1 - LIGHTEN);
  }

  /** Return a colour thinned with paper; 1 is the colour itself. */
  tint(colour: string, part: number): string {
    let parts = this.mixed.get(colour);
    if (!parts) this.mixed.set(colour, (parts = new Map<number, string>()));
    let out = parts.get(part);
    if (out === undefined) {
      out = mix(colour, this.colours.paper, part);
      parts.set(part, out);
    }
    return out;
  }
}

function parse(colour: string): [number, number, number] | null {
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour);
  if (!found) return null;
  return [1, 2, 3].map((k) => parseInt(found[k]!, 16)) as [number, number, number];
}

/** Return the contrast of two colours as WCAG 2.2 defines it, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: string): number {
  const [r, g, b] = (parse(colour) ?? [0, 0, 0]).map((c) => {
    const part = c / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Return a part of one colour and the rest of another; both as #rrggbb. */
export function mix(colour: string, other: string, part: number): string {
  const a = parse(colour);
  const b = parse(other);
  if (!a || !b) return colour;
  const hex = a.map((c, k) => Math.round(part * c + (1 - part) * b[k]!));
  return `#${hex.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
}
