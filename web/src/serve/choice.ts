/** What the form says: a source, what was changed in it, how to run it. */

import type { Scalar } from "../format";
import type { ParameterInfo, Request } from "./api";

export type Source =
  { kind: "system"; name: string } | { kind: "file"; name: string } | TextSource;

/** A text that was opened, or is being written; the stamp is that of its file, if any. */
export interface TextSource {
  kind: "text";
  name: string;
  text: string;
  format: "yaml" | "json";
  stamp?: string | null;
}

export interface Choice {
  source: Source;
  values: Record<string, string>; // changed parameters, as typed
  until: string; // s, as typed; "" for the system's own
  options: Record<string, string>; // changed ones, as typed
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Return typed text as a number where it is one; the server judges the rest. */
export function toScalar(text: string): Scalar {
  const trimmed = text.trim();
  if (NUMBER.test(trimmed) && Number.isFinite(Number(trimmed))) return Number(trimmed);
  return trimmed;
}

/** Return what is typed for a parameter as the server takes it. */
export function toValue(info: ParameterInfo | undefined, text: string): Scalar {
  if (info?.type === "bool") return text === "true";
  if (info?.type === "choice" || info?.type === "str") return text;
  // An empty field is "not given", where that is possible.
  if (info && info.default === null && text.trim() === "") return null;
  return toScalar(text);
}

export function toRequest(choice: Choice, infos: readonly ParameterInfo[]): Request {
  const { source } = choice;
  const request: Request = { parameters: {}, options: {} };
  if (source.kind === "system") request.system = source.name;
  else if (source.kind === "file") request.file = source.name;
  else {
    request.text = source.text;
    request.format = source.format;
    request.name = source.name;
  }
  for (const [name, text] of Object.entries(choice.values)) {
    const info = infos.find((item) => item.name === name);
    request.parameters[name] = toValue(info, text);
  }
  for (const [name, text] of Object.entries(choice.options)) {
    if (text.trim() === "") continue;
    request.options[name] = name === "assemble" ? text === "true" : toScalar(text);
  }
  if (choice.until.trim() !== "") {
    const until = toScalar(choice.until);
    request.until = typeof until === "number" ? until : String(until);
  }
  return request;
}

/** Return a text that is the same for requests that ask for the same. */
export function key(request: Request): string {
  const sorted = (values: Record<string, Scalar>) =>
    Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  const source = request.system ?? request.file ?? request.name ?? "";
  const kind = request.system ? "system" : request.file ? "file" : "text";
  return JSON.stringify([
    kind,
    source,
    sorted(request.parameters),
    request.until ?? null,
    sorted(request.options),
  ]);
}

/** Return a short name of a run for lists: what was changed. */
export function label(request: Request, limit = 3): string {
  const changes = Object.entries(request.parameters).map(
    ([name, value]) => `${name} = ${value === null ? "–" : String(value)}`,
  );
  if (request.until !== undefined && request.until !== null) {
    changes.push(`until ${request.until} s`);
  }
  for (const [name, value] of Object.entries(request.options)) {
    changes.push(`${name} = ${String(value)}`);
  }
  if (changes.length === 0) return "as given";
  const more = changes.length - limit;
  return changes.slice(0, limit).join(", ") + (more > 0 ? `, ${more} more` : "");
}

/** Return the name of the system or file a request is about. */
export function sourceName({ system, file, name }: Request): string {
  return system ?? file ?? name ?? "";
}

/** Return a source as it is. */
export function plainChoice(source: Source): Choice {
  return { source, values: {}, until: "", options: {} };
}

/** Return what a form would say that asked for a run; the server keeps no texts. */
export function choiceOf(
  request: Request,
  textOf: (name: string) => TextSource | undefined,
): Choice {
  const typed = (given: Record<string, Scalar>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, String(value ?? "")]),
    );
  const { system, file, name = "" } = request;
  const lost: TextSource = { kind: "text", name, text: "", format: "yaml" };
  const source: Source =
    system !== undefined
      ? { kind: "system", name: system }
      : file !== undefined
        ? { kind: "file", name: file }
        : (textOf(name) ?? lost);
  return {
    source,
    values: typed(request.parameters),
    options: typed(request.options),
    until: String(request.until ?? ""),
  };
}
