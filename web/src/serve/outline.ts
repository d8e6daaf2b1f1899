/**
 * The outline of a model's text: which keys are where, and what a place in it is about.
 *
 * It reads as much YAML as models need, blocks and {...}, and JSON with it; a text that is
 * being written is never complete, so nothing here fails.
 */

export type Step = string | number;

/** What is being written at the cursor. */
export interface Spot {
  path: Step[]; // of the mapping for a key, of the value for a value
  isValue: boolean;
  isFlow: boolean; // inside { } or [ ]
  from: number; // where the word begins
  prefix: string; // of the word, up to the cursor
}

export interface Outline {
  /** Values of each mapping by key, "" where they are not plain; by path. */
  keys: Map<string, Map<string, string>>;
  /** Line of each key, from 1. */
  lines: Map<string, number>;
  spot: Spot | null;
}

export const pathKey = (path: readonly Step[]): string => path.join("\u0000");

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s"'{}[\],#:][^:#]*?))\s*:(?=\s|$)/;

interface Block {
  indent: number;
  step: Step;
}

interface Flow {
  isMap: boolean;
  key: string | null;
  index: number;
}

class Scanner {
  readonly found: Outline = { keys: new Map(), lines: new Map(), spot: null };
  private blocks: Block[] = [];
  private flows: Flow[] = [];
  private line = 0;

  constructor(
    private readonly text: string,
    private readonly cursor: number,
  ) {}

  run(): Outline {
    let begin = 0;
    for (const row of this.text.split("\n")) {
      this.line++;
      if (this.flows.length > 0) this.flow(row, 0, begin);
      else this.block(row, begin);
      begin += row.length + 1;
    }
    return this.found;
  }

  private get path(): Step[] {
    const steps: Step[] = this.blocks.map(({ step }) => step);
    for (const { isMap, key, index } of this.flows) {
      if (!isMap) steps.push(index);
      else if (key !== null) steps.push(key);
    }
    return steps;
  }

  private note(path: Step[], key: string, value: string): void {
    const at = pathKey(path);
    let keys = this.found.keys.get(at);
    if (!keys) this.found.keys.set(at, (keys = new Map()));
    keys.set(key, value);
    this.found.lines.set(pathKey([...path, key]), this.line);
  }

  private spot(path: Step[], isValue: boolean, from: number, isFlow: boolean): void {
    const prefix = this.text.slice(from, this.cursor);
    this.found.spot = { path, isValue, from, prefix, isFlow };
  }

  private isAt(from: number, to: number): boolean {
    return this.cursor >= from && this.cursor <= to;
  }

  private popTo(indent: number): void {
    while (this.blocks.length > 0 && this.blocks.at(-1)!.indent >= indent) {
      this.blocks.pop();
    }
  }

  /** Read a line of indented keys and items. */
  private block(row: string, begin: number): void {
    const bare = row.replace(/(^|\s)#.*$/, "");
    let column = bare.length - bare.trimStart().length;
    if (bare.trim() === "") {
      if (!this.isAt(begin, begin + bare.length)) return;
      // Nothing is said here yet: the indent tells what is meant.
      const kept = [...this.blocks];
      this.popTo(this.cursor - begin);
      this.spot(this.path, false, this.cursor, false);
      this.blocks = kept;
      return;
    }
    while (/^-(\s|$)/.test(bare.slice(column))) {
      let index = 0;
      while (this.blocks.length > 0) {
        const top = this.blocks.at(-1)!;
        const isItem = top.indent === column && typeof top.step === "number";
        if (isItem) index = (top.step as number) + 1;
        if (top.indent <= column && !isItem) break;
        this.blocks.pop();
      }
      this.blocks.push({ indent: column, step: index });
      const rest = bare.slice(column + 1);
      column += 1 + (rest.length - rest.trimStart().length);
    }
    const rest = bare.slice(column);
    const key = KEY.exec(rest);
    const from = begin + column;
    if (!key) {
      if (/^[{[]/.test(rest)) this.flow(row, column, begin);
      else if (this.isAt(from, begin + bare.length)) {
        this.popTo(column);
        this.spot(this.path, false, from, false);
      }
      return;
    }
    this.popTo(column);
    const name = key[1] ?? key[2] ?? key[3]!;
    const after = rest.slice(key[0].length);
    const blank = after.length - after.trimStart().length;
    const value = after.trim();
    const isFlow = /^[{[]/.test(value);
    this.note(this.path, name, isFlow ? "" : unquoted(value));
    if (this.isAt(from, from + key[0].length - 1)) {
      this.spot(this.path, false, from, false);
    }
    this.blocks.push({ indent: column, step: name });
    const at = from + key[0].length + blank;
    if (isFlow) this.flow(row, column + key[0].length + blank, begin);
    else if (this.isAt(from + key[0].length, begin + row.length)) {
      this.spot(this.path, true, Math.min(at, this.cursor), false);
    }
  }

  /** Read from a bracket, or from what follows one of an earlier line. */
  private flow(row: string, start: number, begin: number): void {
    let i = start;
    for (;;) {
      const before = i;
      while (i < row.length && /\s/.test(row[i]!)) i++;
      const sign = row[i] ?? "";
      const isComment = sign === "#" && (i === 0 || /\s/.test(row[i - 1]!));
      const isMark = sign === "" || isComment || "{}[],".includes(sign);
      const top = this.flows.at(-1);
      const isGap = this.isAt(begin + before, begin + (isMark ? i : i - 1));
      if (top && isGap && !this.found.spot) {
        this.spot(this.path, !top.isMap || top.key !== null, this.cursor, true);
      }
      if (sign === "" || isComment) return;
      i++;
      if (sign === "{") this.flows.push({ isMap: true, key: null, index: 0 });
      else if (sign === "[") this.flows.push({ isMap: false, key: null, index: 0 });
      else if (sign === "}" || sign === "]") {
        this.flows.pop();
        if (this.flows.length === 0) return;
      } else if (sign === ",") {
        if (top?.isMap) top.key = null;
        else if (top) top.index++;
      } else i = this.word(row, i - 1, begin, top);
    }
  }

  /** Read a key or a value; return where it ends. */
  private word(
    row: string,
    start: number,
    begin: number,
    top: Flow | undefined,
  ): number {
    const rest = row.slice(start);
    const word = /^(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|(?:[^,{}[\]:]|:(?=\S))+)/.exec(rest);
    const length = Math.max(1, word?.[0].trimEnd().length ?? 1);
    const end = start + length;
    const colon = /^\s*:/.exec(row.slice(end));
    const isKey = top?.isMap === true && top.key === null;
    if (this.isAt(begin + start, begin + end)) {
      this.spot(this.path, !isKey, begin + start, true);
    }
    if (!isKey) {
      if (top?.isMap && top.key !== null) {
        const own = this.path.slice(0, -1);
        this.note(own, top.key, unquoted(rest.slice(0, length)));
      }
      return colon && !top?.isMap ? end + colon[0].length : end;
    }
    if (!colon) return end;
    const name = unquoted(rest.slice(0, length));
    this.note(this.path, name, "");
    top.key = name;
    return end + colon[0].length;
  }
}

export function unquoted(word: string): string {
  const found = /^(["'])(.*?)\1?$/.exec(word.trim());
  return found ? found[2]! : word.trim();
}

export function outline(text: string, cursor = -1): Outline {
  return new Scanner(text, cursor).run();
}

/** Return the line that a message of the server is about, from 1; null if none. */
export function lineOf(message: string, text: string): number | null {
  const said = /\bline (\d+)/.exec(message);
  if (said) return Number(said[1]);
  // "joint 'pin': ..." is about the element of that name, "bodies[0]" about an item.
  const { keys, lines } = outline(text);
  for (const quoted of message.matchAll(/'([^']+)'/g)) {
    for (const [at, values] of keys) {
      if (values.get("name") === quoted[1]) {
        return lines.get(at === "" ? "name" : `${at}\u0000name`) ?? null;
      }
    }
  }
  return null;
}
