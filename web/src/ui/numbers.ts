/** Numbers as text. */

/** Return a number with a few significant digits; "–" for none. */
export function shown(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text =
    size >= Math.max(1e5, 10 ** (digits - 1)) || size < 1e-3
      ? value.toExponential(digits - 1)
      : Number.isInteger(value)
        ? String(value)
        : value.toPrecision(digits);
  return text.replace(/^-/, "−").replace(/e\+?(-?)(\d+)$/, power);
}

/** Return a number somebody chose, without zeros at its end. */
export function plain(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return shown(value);
  const size = Math.abs(value);
  const isPlain = value === 0 || (size >= 1e-4 && size < 1e6);
  const rounded = Number(value.toPrecision(digits));
  const text = isPlain ? String(rounded) : rounded.toExponential();
  return text.replace(/^-/, "−").replace(/e\+?(-?)(\d+)$/, power);
}

export const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function power(_: string, sign: string, exponent: string): string {
  const raised = [...exponent].map((digit) => RAISED[Number(digit)] ?? "").join("");
  return `·10${sign ? "⁻" : ""}${raised}`;
}

/** Return a number and its unit. */
export function withUnit(value: number, unit: string, digits = 4): string {
  return unit ? `${shown(value, digits)} ${unit}` : shown(value, digits);
}

/** Return the two one-sided values, or one where they agree as shown. */
export function bothSides(
  before: number,
  after: number,
  unit: string,
  digits = 4,
): string {
  const [old, now] = [shown(before, digits), shown(after, digits)];
  const text = old === now ? now : `${old} → ${now}`;
  return unit ? `${text} ${unit}` : text;
}

/** Return a duration with a fitting unit: "3.2 ms". */
export function duration(seconds: number): string {
  const units: [number, string][] = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  for (const [size, name] of units) {
    if (Math.abs(seconds) >= size * 0.9995 || name === "ns") {
      return `${Number((seconds / size).toPrecision(3))} ${name}`;
    }
  }
  return `${seconds} s`;
}
