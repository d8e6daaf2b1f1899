/** Round numbers along an axis. */

/** Return the step between round numbers so that at most `most` fit into a width. */
export function roundStep(width: number, most: number): number {
  const rough = width / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5])
    if (factor * power >= rough * 0.999) return factor * power;
  return 10 * power;
}

export interface Ticks {
  readonly values: number[];
  readonly labels: string[];
}

// Beyond this many digits a label says less than an offset would.
const MOST_DECIMALS = 15;

/** Return round numbers from low to high with labels that tell them apart. */
export function ticks(low: number, high: number, most: number): Ticks {
  if (!(high > low) || !Number.isFinite(high - low)) return { values: [], labels: [] };
  const step = roundStep(high - low, most);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const places = Math.min(
    MOST_DECIMALS,
    Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
  );
  const values: number[] = [];
  for (let k = first; k <= last; k++) values.push(k * step);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const isPlain = largest < 1e5 && (places < 5 || largest >= 1);
  const digits = Math.max(0, Math.floor(Math.log10(largest)) + places);
  const labels = values.map((value) => {
    if (Math.abs(value) < step / 2) return "0";
    const text = isPlain
      ? value.toFixed(places)
      : value.toExponential(Math.min(digits, 6)).replace("e+", "e");
    return text.replaceAll("-", "−");
  });
  return { values, labels };
}
