/** Keys of the viewer. */

export type Action =
  | "toggle"
  | "back"
  | "forward"
  | "previous"
  | "next"
  | "begin"
  | "end"
  | "fit"
  | "in"
  | "out"
  | "side";

interface Press {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const PLAIN: Record<string, Action> = {
  " ": "toggle",
  ArrowLeft: "back",
  ArrowRight: "forward",
  ",": "previous",
  ".": "next",
  Home: "begin",
  End: "end",
  f: "fit",
  "+": "in",
  "=": "in",
  "-": "out",
  b: "side",
};

/** Return what a key means, or null. */
export function action(press: Press): Action | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  if (press.shiftKey && press.key === "ArrowLeft") return "previous";
  if (press.shiftKey && press.key === "ArrowRight") return "next";
  return PLAIN[press.key] ?? null;
}

/** Whether the key belongs to what has the focus: text, lists, buttons. */
export function isTaken(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("dialog")) return true;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true;
  // A button is pressed by space; a list scrolls by its own keys.
  if (key === " ") return target.closest("button, a, summary") !== null;
  const moves = ["Home", "End"].includes(key);
  if (key.startsWith("Arrow") || moves) {
    return target.closest("[role=tablist], [role=listbox], [role=menu]") !== null;
  }
  return false;
}
