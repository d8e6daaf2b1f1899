/** Colours of a model's text. */

const PARTS =
  /(#.*$)|("(?:[^"\\]|\\.)*"|'[^']*')(\s*:(?=\s|$))?|([A-Za-z_$][\w$.\-]*)(\s*:(?=\s|$))|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|\b(true|false|null)\b|([{}[\],]|^\s*-(?=\s))/g;
// Beyond this many letters a text is black: colours would hold up the typing.
const MOST = 150_000;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Return the text as HTML, a line each; lines that are wrong are underlined. */
export function ink(text: string, wrong: ReadonlySet<number>): string {
  const isPlain = text.length > MOST;
  return text
    .split("\n")
    .map((row, k) => {
      const body = isPlain ? escaped(row) : line(row);
      return wrong.has(k + 1) ? `<span class="sv-wave">${body || " "}</span>` : body;
    })
    .join("\n");
}

function line(row: string): string {
  let out = "";
  let at = 0;
  for (const found of row.matchAll(PARTS)) {
    const [whole, remark, quoted, colon, key, , number, word] = found;
    // A sharp begins a remark at the start, or after a space.
    if (remark && found.index > 0 && !/\s/.test(row[found.index - 1]!)) continue;
    if (found.index < at) continue;
    out += escaped(row.slice(at, found.index));
    at = found.index + whole.length;
    const kind = remark
      ? "remark"
      : key || colon
        ? "key"
        : quoted
          ? "string"
          : number || word
            ? "number"
            : "sign";
    out += `<span class="sv-${kind}">${escaped(whole)}</span>`;
  }
  return out + escaped(row.slice(at));
}
