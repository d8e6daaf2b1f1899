/** How flexible bodies are shown: enlarged by a factor, coloured by a field. */

import { SHADES, type Colouring } from "../scene/mesh";
import { make } from "./dom";
import { shown } from "./numbers";

// Decades of the slider beyond the factor that shows the deformation.
const BEYOND = 1;

export class Deformed {
  readonly root: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly number: HTMLInputElement;
  private readonly choice: HTMLSelectElement;
  private readonly bar: HTMLElement;

  constructor(
    private readonly fields: readonly Colouring[],
    suggested: number,
    change: (state: { deformation?: number; field?: string }) => void,
  ) {
    const most = Math.ceil(Math.log10(suggested)) + BEYOND;
    this.slider = make("input", {
      type: "range",
      min: 0,
      max: most,
      step: 0.01,
      test: "deformation",
      "aria-label": "enlargement of the deformation",
      oninput: () => {
        const factor = 10 ** Number(this.slider.value);
        change({ deformation: Number(factor.toPrecision(2)) });
      },
    });
    this.number = make("input", {
      type: "number",
      min: 0,
      step: "any",
      class: "ns-factor",
      test: "deformation-number",
      "aria-label": "factor of the deformation",
      onchange: () => {
        const factor = Number(this.number.value);
        if (this.number.value.trim() !== "" && factor >= 0) {
          change({ deformation: factor });
        }
      },
    });
    this.choice = make(
      "select",
      {
        test: "field",
        "aria-label": "colour of flexible bodies",
        onchange: () => change({ field: this.choice.value }),
      },
      make("option", { value: "" }, "no colours"),
      ...fields.map(({ name }) => make("option", { value: name }, name)),
    );
    this.bar = make("span", { class: "ns-colours", test: "colour-bar" });
    this.root = make(
      "div",
      { class: "ns-legend ns-deformed" },
      make(
        "label",
        { class: "ns-legend-item", title: "1 shows the deformation as it is" },
        "deformation ×",
        this.number,
        this.slider,
      ),
      make("label", { class: "ns-legend-item" }, this.choice, this.bar),
    );
    this.root.hidden = fields.length === 0;
  }

  set(deformation: number, field: string): void {
    this.number.value = String(deformation);
    this.slider.value = String(Math.log10(Math.max(deformation, 1)));
    const colouring = this.fields.find(({ name }) => name === field);
    this.choice.value = colouring ? field : "";
    this.bar.hidden = !colouring;
    if (!colouring) return;
    const { range, unit } = colouring;
    const gradient = make("span", { class: "ns-gradient" });
    gradient.style.background = `linear-gradient(to right, ${SHADES.join(",")})`;
    this.bar.replaceChildren(
      shown(range[0], 3),
      gradient,
      `${shown(range[1], 3)} ${unit}`,
    );
  }
}
