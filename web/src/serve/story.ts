/** The text of a gallery system, as written in its docstring, as elements. */

import { make } from "../ui/dom";

/** Paragraphs, lists that begin with "- ", formulas that are indented, `names`. */
export function story(text: string): HTMLElement[] {
  return text
    .split(/\n\s*\n/)
    .filter((block) => block.trim() !== "")
    .map((block) => {
      const lines = block.replace(/^\n+|\s+$/g, "").split("\n");
      if (lines.every((line) => /^\s{2,}/.test(line))) {
        return make("pre", {}, dedent(lines));
      }
      if (lines[0]!.startsWith("- ")) return list(lines);
      return make("p", {}, ...words(lines.join(" ")));
    });
}

function dedent(lines: string[]): string {
  const width = Math.min(...lines.map((line) => /^\s*/.exec(line)![0].length));
  return lines.map((line) => line.slice(width)).join("\n");
}

function list(lines: string[]): HTMLElement {
  const items: string[] = [];
  for (const line of lines) {
    if (line.startsWith("- ")) items.push(line.slice(2));
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  return make("ul", {}, ...items.map((item) => make("li", {}, ...words(item))));
}

function words(text: string): (Node | string)[] {
  return text
    .split(/`([^`]*)`/)
    .map((part, k) => (k % 2 === 1 ? make("code", {}, part) : part))
    .filter((part) => part !== "");
}
