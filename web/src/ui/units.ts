/** Units as they are printed. */

import { RAISED } from "./numbers";

/** Return a unit with raised exponents, m/s^2 as m/s²; nothing for a plain number. */
export function unitText(unit: string): string {
  if (unit === "1") return "";
  if (unit === "deg") return "°";
  return unit
    .replace(/\^(-?\d+)/g, (_, digits: string) => raised(digits))
    .replace(/\^n\b/g, "ⁿ");
}

function raised(digits: string): string {
  return [...digits].map((d) => (d === "-" ? "⁻" : RAISED[Number(d)])).join("");
}
