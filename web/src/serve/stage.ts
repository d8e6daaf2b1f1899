/** What is to be seen beside the panel: runs, the drawing of a start, or words. */

import type { Run } from "../run";
import { make } from "../ui/dom";
import type { ViewerState } from "../ui/state";
import { Viewer, type ViewerStatus } from "../viewer";

export class Stage {
  viewer: Viewer | null = null;
  readonly root = make("main", { class: "sv-stage" });
  private title = "";

  constructor(
    private readonly seen: () => Partial<ViewerState>,
    private readonly onState: (state: ViewerState) => void,
  ) {}

  /** Show runs, the first of them with all that is known of it. */
  show(runs: readonly Run[], labels: string[]): void {
    this.set(runs, labels, false);
  }

  /** Show how a model starts. */
  draw(start: Run): void {
    this.set([start], [], true);
  }

  /** Whether what is shown is a drawing, and not a run. */
  get isStill(): boolean {
    return this.viewer?.isStill ?? false;
  }

  isOf(run: Run | undefined): boolean {
    return run?.header.title === this.title;
  }

  setStatus(status: ViewerStatus | null): void {
    this.viewer?.setStatus(status);
  }

  /** Show words instead of a picture; the first is the heading of the others. */
  say(first: string, ...others: string[]): void {
    this.viewer?.dispose();
    this.viewer = null;
    this.title = "";
    const isList = others.length > 0;
    const list = make("ul", {}, ...others.map((text) => make("li", {}, text)));
    this.root.replaceChildren(
      make(
        "div",
        {
          class: isList ? "sv-empty sv-refused" : "sv-empty",
          test: "empty",
          role: isList ? "alert" : null,
        },
        make("p", {}, first),
        isList ? list : null,
      ),
    );
  }

  private set(runs: readonly Run[], labels: string[], isStill: boolean): void {
    const { title } = runs[0]!.header;
    document.title = `${title} · nonsmooth`;
    if (this.viewer && this.title === title && this.viewer.isStill === isStill) {
      this.viewer.setRuns(runs, labels);
      return;
    }
    this.viewer?.dispose();
    this.root.replaceChildren();
    this.title = title;
    const { onState } = this;
    const options = { labels, state: this.seen(), isStill, onState };
    this.viewer = new Viewer(this.root, runs, options);
  }
}
