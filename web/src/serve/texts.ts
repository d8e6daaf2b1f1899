/** Texts that were opened or written in this tab: a page that is loaded again has them. */

import type { TextSource } from "./choice";

const KEY = "nonsmooth-texts";
const MOST = 8; // texts kept
const LETTERS = 1_000_000; // of all of them; browsers keep a few MB

export function readTexts(): TextSource[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(found)) return [];
    return (found as Partial<TextSource>[]).filter(isText);
  } catch {
    return [];
  }
}

function isText(item: Partial<TextSource> | null): item is TextSource {
  return (
    item?.kind === "text" &&
    typeof item.name === "string" &&
    typeof item.text === "string" &&
    (item.format === "yaml" || item.format === "json")
  );
}

export function writeTexts(texts: readonly TextSource[]): void {
  let room = LETTERS;
  const kept = texts.slice(0, MOST).filter(({ text }) => (room -= text.length) > 0);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // No room, or not allowed: they are in this page all the same.
  }
}
