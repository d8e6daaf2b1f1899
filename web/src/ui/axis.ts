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

/**
 * Return round numbers from low to high with labels that tell them apart. Where these
 * have more than some letters, the roundest number is written, and by how much the
 * others are more or less.
 */
export function ticks(
  low: number,
  high: number,
  most: number,
  letters = Infinity,
): Ticks {
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
  // Digits after the first, up to those of the step.
  const digits = Math.floor(Math.log10(largest)) - Math.floor(Math.log10(step) + 1e-9);
  const written = (value: number): string => {
    if (Math.abs(value) < step / 2) return "0";
    return isPlain
      ? value.toFixed(places)
      : value.toExponential(Math.min(Math.max(0, digits), 12)).replace("e+", "e");
  };
  let texts = values.map(written);
  if (texts.some((text) => text.length > letters)) {
    const base = roundest(first, last) * step;
    texts = values.map((value) => {
      const more = value - base;
      if (Math.abs(more) < step / 2) return short(base, places, letters);
      return `${more > 0 ? "+" : ""}${short(more, places, letters)}`;
    });
  }
  return { values, labels: texts.map((text) => text.replaceAll("-", "−")) };
}

/** Return round times with the unit after the last of them. */
export function timeTicks(from: number, to: number, most: number): Ticks {
  const { values, labels } = ticks(from, to, most);
  const last = labels.length - 1;
  return { values, labels: labels.map((text, k) => (k === last ? `${text} s` : text)) };
}

/** Return the whole number with most zeros at its end. */
function roundest(first: number, last: number): number {
  let best = first;
  for (let power = 1; power <= Math.max(Math.abs(first), Math.abs(last)); power *= 10) {
    const next = Math.ceil(first / power) * power;
    if (next > last) break;
    best = next;
  }
  return best;
}

/** Return a number as text; "≈" and rounded where it has too many letters. */
function short(value: number, places: number, letters: number): string {
  const exact = Number(value.toFixed(places));
  const plain = (number: number): string => {
    const [long, brief] = [String(number), number.toExponential().replace("e+", "e")];
    return long.length <= letters ? long : brief;
  };
  if (plain(exact).length <= letters) return plain(exact);
  for (let digits = letters; digits > 1; digits--) {
    const text = `≈${plain(Number(value.toPrecision(digits)))}`;
    if (text.length <= letters) return text;
  }
  return "≈";
}
