/** Sliders: places between two ends, and round numbers for them. */

import type { ParameterInfo } from "./api";

// Ends this far apart, as a ratio, are better divided by ratios.
const WIDE = 50;
const PLACES = 400; // a slider is about as many pixels wide
const DIGITS = 3; // of a number on a scale of ratios

export interface Scale {
  readonly steps: number; // places of the slider, from 0
  toPlace(value: number): number;
  toValue(place: number): number;
}

/** Return the scale of a parameter's slider; null if it has none. */
export function scaleOf(info: ParameterInfo): Scale | null {
  const { low, high } = info;
  if (info.default === null || low === null || high === null || !(low < high))
    return null;
  if (info.type === "int") return linear(low, high, 1);
  if (info.type !== "float") return null;
  if (low > 0 && high / low >= WIDE) return ratios(low, high);
  return linear(low, high, niceStep((high - low) / PLACES));
}

function linear(low: number, high: number, step: number): Scale {
  const steps = Math.max(1, Math.round((high - low) / step));
  return {
    steps,
    toPlace: (value) => clamp(Math.round((value - low) / step), steps),
    // Multiples of the step, not of the lower end: 0 is then among them.
    toValue: (place) => {
      if (place <= 0) return low;
      if (place >= steps) return high;
      return clean(Math.round((low + place * step) / step) * step);
    },
  };
}

function ratios(low: number, high: number): Scale {
  const width = Math.log(high / low);
  return {
    steps: PLACES,
    toPlace: (value) =>
      value > 0
        ? clamp(Math.round((PLACES * Math.log(value / low)) / width), PLACES)
        : 0,
    toValue: (place) => {
      if (place <= 0) return low;
      if (place >= PLACES) return high;
      return Number((low * Math.exp((width * place) / PLACES)).toPrecision(DIGITS));
    },
  };
}

/** Return 1, 2 or 5 times a power of ten, at most a number. */
export function niceStep(number: number): number {
  const power = 10 ** Math.floor(Math.log10(number));
  const lead = number / power;
  return clean((lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power);
}

function clamp(place: number, steps: number): number {
  return Math.min(Math.max(place, 0), steps);
}

/** Remove the noise of rounding: 0.30000000000000004. */
function clean(number: number): number {
  return Number(number.toPrecision(12));
}

/** Return a number as it is written into a field. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  const text = String(Number(value.toPrecision(7)));
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) {
    return Number(value.toPrecision(7)).toExponential().replace("e+", "e");
  }
  return text;
}
