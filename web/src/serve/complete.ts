/** What may be written next in a model's text, by the schema and by its own names. */

import { outline, pathKey, type Outline, type Step } from "./outline";

/** As much of a JSON schema as ours uses. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema | boolean;
  prefixItems?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
}

export interface Suggestion {
  label: string;
  insert: string;
  detail: string;
}

export interface Completion {
  from: number;
  to: number;
  items: Suggestion[];
}

const MOST = 40;
// Fields that name a body, or a point or shape of one.
const REFERENCES = ["a", "b"];

export function complete(
  schema: Schema,
  text: string,
  cursor: number,
  isJson = false,
): Completion | null {
  const found = outline(text, cursor);
  const { spot } = found;
  if (!spot) return null;
  const items = spot.isValue
    ? values(schema, found, spot.path, isJson)
    : keys(schema, found, spot.path, isJson, spot.isFlow, indentAt(text, spot.from));
  const prefix = spot.prefix.replace(/^["']/, "");
  const word = prefix.toLowerCase();
  const fitting = items.filter(({ label }) => label.toLowerCase().startsWith(word));
  const others = items.filter(
    ({ label }) =>
      label.toLowerCase().includes(word) && !label.toLowerCase().startsWith(word),
  );
  const shown = [...fitting, ...others].slice(0, MOST);
  // What is there already needs no help.
  if (shown.length === 0 || shown.some(({ label }) => label === prefix)) return null;
  return { from: spot.from, to: cursor, items: shown };
}

/** Return the schemas that a place may follow, with references resolved. */
export function schemasAt(
  schema: Schema,
  found: Outline,
  path: readonly Step[],
): Schema[] {
  let nodes = branches(schema, schema, found, []);
  path.forEach((step, k) => {
    const below = nodes.flatMap((node) => child(node, step));
    nodes = below.flatMap((node) =>
      branches(schema, node, found, path.slice(0, k + 1)),
    );
  });
  return nodes;
}

function child(node: Schema, step: Step): Schema[] {
  if (typeof step === "number") {
    const own = node.prefixItems?.[step];
    if (own) return [own];
    return typeof node.items === "object" ? [node.items] : [];
  }
  const own = node.properties?.[step];
  if (own) return [own];
  const other = node.additionalProperties;
  return typeof other === "object" ? [other] : [];
}

/** Resolve a reference and take its alternatives apart; a known type chooses one. */
function branches(
  root: Schema,
  node: Schema,
  found: Outline,
  path: readonly Step[],
): Schema[] {
  if (node.$ref) {
    const name = node.$ref.replace("#/$defs/", "");
    const target = root.$defs?.[name];
    if (!target) return [];
    const said = node.description ? { description: node.description } : {};
    return branches(root, { ...target, ...said }, found, path);
  }
  if (!node.anyOf) return [node];
  const all = node.anyOf.flatMap((part) => branches(root, part, found, path));
  const type = found.keys.get(pathKey(path))?.get("type");
  const chosen = all.filter(
    (part) => type && part.properties?.["type"]?.const === type,
  );
  if (chosen.length > 0) return chosen;
  // A family: until the type is known, there is nothing else to say.
  if (node.properties) return all.length === 1 ? all : [{ ...node, anyOf: all }];
  return all;
}

function keys(
  schema: Schema,
  found: Outline,
  path: Step[],
  isJson: boolean,
  isFlow: boolean,
  indent: string,
): Suggestion[] {
  const there = found.keys.get(pathKey(path)) ?? new Map<string, string>();
  const out = new Map<string, Suggestion>();
  for (const node of schemasAt(schema, found, path)) {
    const needed = node.required ?? [];
    const names = Object.keys(node.properties ?? {});
    names.sort((a, b) => Number(needed.includes(b)) - Number(needed.includes(a)));
    for (const name of names) {
      if (there.has(name) || out.has(name) || name === "$schema") continue;
      const own = node.properties![name]!;
      const detail = [needed.includes(name) ? "needed" : "", describe(own)];
      const word = isJson ? `"${name}": ` : `${name}: `;
      const isList = own.type === "array" && typeof own.items === "object";
      const opens = isList && !isJson && !isFlow && path.length === 0;
      out.set(name, {
        label: name,
        insert: opens ? `${name}:\n${indent}  - ` : word,
        detail: detail.filter(Boolean).join(", "),
      });
    }
  }
  return [...out.values()];
}

function values(
  schema: Schema,
  found: Outline,
  path: Step[],
  isJson: boolean,
): Suggestion[] {
  const out: Suggestion[] = [];
  const quoted = (word: string) => (isJson ? JSON.stringify(word) : word);
  const last = path.at(-1);
  if (typeof last === "string" && REFERENCES.includes(last)) {
    for (const name of references(found)) {
      out.push({ label: name, insert: quoted(name), detail: "" });
    }
    return out;
  }
  for (const node of schemasAt(schema, found, path)) {
    const types = node.properties?.["type"];
    const names = types?.enum ?? (types?.const !== undefined ? [types.const] : []);
    for (const name of names.map(String)) {
      const own = node.anyOf?.find((part) => part.properties?.["type"]?.const === name);
      const inner = isJson ? `{"type": "${name}"` : `{type: ${name}`;
      const detail = own?.description ?? node.description ?? "";
      out.push({ label: name, insert: `${inner}}`, detail });
    }
    const choices = node.enum ?? (node.const !== undefined ? [node.const] : []);
    for (const choice of choices) {
      const word = typeof choice === "string" ? quoted(choice) : String(choice);
      const detail = choice === node.default ? "as it is" : (node.description ?? "");
      out.push({ label: String(choice), insert: word, detail });
    }
    if (node.type === "boolean") {
      for (const word of ["true", "false"]) {
        out.push({ label: word, insert: word, detail: "" });
      }
    }
  }
  // The type of an element: what each is.
  if (last === "type") {
    const families = schemasAt(
      schema,
      { ...found, keys: new Map() },
      path.slice(0, -1),
    );
    for (const item of out) {
      const own = families
        .flatMap((node) => node.anyOf ?? [])
        .find((part) => part.properties?.["type"]?.const === item.label);
      item.detail = own?.description ?? item.detail;
    }
    for (const node of families) {
      for (const name of (node.properties?.["type"]?.enum ?? []).map(String)) {
        if (out.every(({ label }) => label !== name)) {
          out.push({ label: name, insert: quoted(name), detail: "" });
        }
      }
    }
  }
  return out;
}

/** Return the bodies of the text, and their points and shapes. */
export function references(found: Outline): string[] {
  const out = ["ground"];
  for (const [at, inside] of found.keys) {
    const [list, , ...rest] = at.split("\u0000");
    const name = inside.get("name");
    if (list !== "bodies" || rest.length > 0 || !name) continue;
    if (!out.includes(name)) out.push(name);
    for (const part of ["points", "shapes"]) {
      const own = found.keys.get(`${at}\u0000${part}`);
      for (const point of own?.keys() ?? []) out.push(`${name}.${point}`);
    }
  }
  return out;
}

function describe(node: Schema): string {
  const said = node.description ?? "";
  if (node.default === undefined || node.default === null) return said;
  const value = JSON.stringify(node.default);
  if (value === '""' || value === "[]" || value === "{}") return said;
  return said ? `${said}; ${value} if not given` : `${value} if not given`;
}

function indentAt(text: string, at: number): string {
  const row = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return " ".repeat(row.length - row.trimStart().length);
}
