/**
 * The state of the page in its address: `#system=belt&p.mu=0.2&until=3&o.rtol=1e-6`,
 * then what the viewer shows (ui/state.ts). A pasted text is not in it, only its name.
 */

import { fromText, toText, type ViewerState } from "../ui/state";
import type { Choice } from "./choice";

export interface Address {
  choice: Choice;
  viewer: Partial<ViewerState>;
}

export function toHash(choice: Choice, viewer: Partial<ViewerState>): string {
  const parts: string[] = [];
  const put = (name: string, value: string) =>
    parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  put(choice.source.kind, choice.source.name);
  for (const [name, value] of Object.entries(choice.values)) put(`p.${name}`, value);
  if (choice.until !== "") put("until", choice.until);
  for (const [name, value] of Object.entries(choice.options)) put(`o.${name}`, value);
  const seen = toText(viewer);
  if (seen !== "") parts.push(seen);
  return `#${parts.join("&")}`;
}

/** Read what `toHash` wrote; null if it names nothing to run. */
export function fromHash(hash: string): Address | null {
  let source: Choice["source"] | null = null;
  const values: Record<string, string> = {};
  const options: Record<string, string> = {};
  let until = "";
  const parts = hash.replace(/^#/, "").split("&");
  for (const part of parts) {
    const cut = part.indexOf("=");
    if (cut < 0) continue;
    const name = decoded(part.slice(0, cut));
    const value = decoded(part.slice(cut + 1));
    if (name === null || value === null) continue;
    if (name === "system" || name === "file") source = { kind: name, name: value };
    if (name === "text") source = { kind: name, name: value, text: "", format: "yaml" };
    if (name === "until") until = value;
    if (name.startsWith("p.")) values[name.slice(2)] = value;
    if (name.startsWith("o.")) options[name.slice(2)] = value;
  }
  if (source === null || source.name === "") return null;
  return { choice: { source, values, until, options }, viewer: fromText(hash) };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
