/** Colours of what is drawn on canvases around the scene. */

export type Theme = "light" | "dark";
export type ThemeChoice = "auto" | Theme;

export interface Colours {
  ink: string;
  soft: string; // text of axes
  grid: string;
  paper: string;
  accent: string;
  lines: readonly string[];
}

// Okabe and Ito's colours, as in the figures; lighter on dark.
const THEMES: Record<Theme, Colours> = {
  light: {
    ink: "#1d2733",
    soft: "#5b6875",
    grid: "#e6eaee",
    paper: "#ffffff",
    accent: "#0b63b5",
    lines: [
      "#0072B2",
      "#D55E00",
      "#009E73",
      "#CC79A7",
      "#E69F00",
      "#56B4E9",
      "#333333",
    ],
  },
  dark: {
    ink: "#e4e9ee",
    soft: "#96a3b0",
    grid: "#29313a",
    paper: "#14191f",
    accent: "#5fb0f5",
    lines: [
      "#4CA8E0",
      "#F58A42",
      "#33C49A",
      "#E39CC3",
      "#F2B63C",
      "#8FD0F5",
      "#C9D1D9",
    ],
  },
};

export function colours(theme: Theme): Colours {
  return THEMES[theme];
}

export function lineColour(theme: Theme, k: number): string {
  const { lines } = THEMES[theme];
  return lines[k % lines.length]!;
}

// Kinds of events: touching is blue, leaving sky blue, sticking green, slipping reds.
const KINDS: Record<string, number> = {
  touch_down: 0,
  re_engage: 0,
  release: 5,
  separate: 5,
  stick: 2,
  break_away: 1,
  reverse: 4,
  change_side: 3,
  impact: 1,
};

/** Return the colour of a kind of event. */
export function kindColour(theme: Theme, kind: string): string {
  const { lines, soft } = THEMES[theme];
  const k = KINDS[kind];
  return k === undefined ? soft : lines[k]!;
}

// Modes whose colour in the document is that of paper stay empty.
const EMPTY = new Set(["#FFFFFF", "#ffffff", "white"]);

/** Return the colour of a mode on a timeline, or null for none. */
export function modeColour(modes: Record<string, string>, mode: string): string | null {
  const colour = modes[mode];
  return colour === undefined || EMPTY.has(colour) ? null : colour;
}

/** Return the theme that a choice means here. */
export function resolve(choice: ThemeChoice): Theme {
  if (choice !== "auto") return choice;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
