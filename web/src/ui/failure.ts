/** What a page shows instead of a run that cannot be read. */

import { make } from "./dom";
import { resolve } from "./theme";

/** Put into words why there is nothing to see. */
export function fillError(root: HTMLElement, error: unknown): void {
  root.replaceChildren(
    make(
      "div",
      {
        class: "ns-viewer ns-error",
        test: "error",
        role: "alert",
        "data-theme": resolve("auto"),
      },
      make("h1", {}, "This run cannot be shown"),
      make("p", {}, explain(error)),
    ),
  );
}

/** Return a sentence about what went wrong, and what to try. */
export function explain(error: unknown): string {
  if (typeof DecompressionStream === "undefined") {
    return (
      "This browser cannot unpack the data. Browsers that can: Chrome and Edge from " +
      "80, Safari from 16.4, Firefox from 113."
    );
  }
  const text = error instanceof Error ? error.message : String(error);
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}. Try to write the report again.`;
}
