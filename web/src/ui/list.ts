/** A list of which only the rows in sight exist. */

import { make } from "./dom";

/** Return the rows to build, first and one past the last, for a scroll position. */
export function window(
  scroll: number,
  height: number,
  row: number,
  n: number,
  spare = 6,
): [number, number] {
  const first = Math.max(0, Math.floor(scroll / row) - spare);
  const last = Math.min(n, Math.ceil((scroll + height) / row) + spare);
  return [Math.min(first, n), Math.max(Math.min(first, n), last)];
}

export class VirtualList {
  readonly root: HTMLElement;
  private readonly inner = make("div", { class: "ns-list-inner" });
  private readonly rows = new Map<number, HTMLElement>();
  private n = 0;
  private readonly observer: ResizeObserver;

  constructor(
    private readonly rowHeight: number,
    private readonly build: (k: number) => HTMLElement,
    attributes: Record<string, string | number> = {},
  ) {
    this.root = make(
      "div",
      { class: "ns-list", tabindex: 0, ...attributes },
      this.inner,
    );
    this.root.addEventListener("scroll", () => this.update(), { passive: true });
    this.observer = new ResizeObserver(() => this.update());
    this.observer.observe(this.root);
  }

  /** Show n rows, all built anew. */
  setCount(n: number): void {
    this.n = n;
    this.inner.style.height = `${n * this.rowHeight}px`;
    this.refresh();
  }

  refresh(): void {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.update();
  }

  /** Look at each row that exists. */
  visit(look: (k: number, row: HTMLElement) => void): void {
    for (const [k, row] of this.rows) look(k, row);
  }

  /** Scroll so that a row is in sight, in the middle if it was not. */
  reveal(k: number): void {
    const height = this.root.clientHeight;
    const top = k * this.rowHeight;
    const { scrollTop } = this.root;
    if (top >= scrollTop && top + this.rowHeight <= scrollTop + height) return;
    this.root.scrollTop = Math.max(0, top - (height - this.rowHeight) / 2);
    this.update();
  }

  private update(): void {
    const { scrollTop, clientHeight } = this.root;
    const [first, end] = window(scrollTop, clientHeight, this.rowHeight, this.n);
    for (const [k, row] of this.rows) {
      if (k >= first && k < end) continue;
      row.remove();
      this.rows.delete(k);
    }
    for (let k = first; k < end; k++) {
      if (this.rows.has(k)) continue;
      const row = this.build(k);
      row.style.top = `${k * this.rowHeight}px`;
      row.style.height = `${this.rowHeight}px`;
      this.rows.set(k, row);
      this.inner.append(row);
    }
  }

  dispose(): void {
    this.observer.disconnect();
    this.root.remove();
  }
}
