/** Tabs: one panel is seen at a time. */

import { make } from "./dom";

export interface Tab {
  readonly name: string;
  readonly label: string;
  readonly panel: HTMLElement;
}

let count = 0;

export class Tabs {
  readonly bar: HTMLElement;
  readonly panels: HTMLElement;
  private readonly buttons: HTMLButtonElement[];
  private readonly list: readonly Tab[];
  current: string;

  constructor(
    tabs: readonly Tab[],
    private readonly onChange: (name: string) => void,
  ) {
    const group = `ns-tabs-${++count}`;
    this.list = tabs;
    this.current = tabs[0]?.name ?? "";
    this.buttons = tabs.map(({ name, label }) =>
      make(
        "button",
        {
          type: "button",
          role: "tab",
          test: `tab-${name}`,
          id: `${group}-${name}`,
          "aria-controls": `${group}-${name}-panel`,
          onclick: () => this.choose(name),
        },
        label,
      ),
    );
    for (const { name, panel } of tabs) {
      panel.setAttribute("role", "tabpanel");
      panel.id = `${group}-${name}-panel`;
      panel.setAttribute("aria-labelledby", `${group}-${name}`);
    }
    this.bar = make("div", { class: "ns-tabs", role: "tablist" }, ...this.buttons);
    this.panels = make("div", { class: "ns-panels" }, ...tabs.map((tab) => tab.panel));
    this.bar.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const at = tabs.findIndex((tab) => tab.name === this.current);
      const next = (at + by + tabs.length) % tabs.length;
      this.choose(tabs[next]!.name);
      this.buttons[next]!.focus();
    });
    this.show(this.current);
  }

  /** Show a tab; an unknown name changes nothing. */
  show(name: string): void {
    if (!this.list.some((tab) => tab.name === name)) return;
    this.current = name;
    this.list.forEach((tab, k) => {
      const isShown = tab.name === name;
      tab.panel.hidden = !isShown;
      this.buttons[k]!.setAttribute("aria-selected", String(isShown));
      this.buttons[k]!.tabIndex = isShown ? 0 : -1;
    });
  }

  private choose(name: string): void {
    if (name === this.current) return;
    this.show(name);
    this.onChange(name);
  }
}
