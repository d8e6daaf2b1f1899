/** Making elements of the page. */

type Child = Node | string | null | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);

/**
 * Make an element. Attributes by name; `on...` are listeners, false and null leave an
 * attribute out, `test` is the stable name for tests from end to end.
 */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      node.addEventListener(name.slice(2), value as (event: Event) => void);
    } else {
      const key = name === "test" ? "data-test" : name;
      node.setAttribute(key, value === true ? "" : String(value));
    }
  }
  for (const child of children)
    if (child !== null && child !== false) node.append(child);
  return node;
}

// Icons on a grid of 20, drawn as strokes but for those that are solid.
const ICONS = {
  play: "M6 4l10 6-10 6z",
  pause: "M6 4h3v12H6zM11 4h3v12h-3z",
  previous: "M5 4v12M15 4.5L7.5 10l7.5 5.5z",
  next: "M15 4v12M5 4.5l7.5 5.5L5 15.5z",
  loop: "M4 9a5 5 0 0 1 5-4h6M12.5 2.5L15 5l-2.5 2.5M16 11a5 5 0 0 1-5 4H5M7.5 17.5L5 15l2.5-2.5",
  fit: "M3.5 7V3.5H7M13 3.5h3.5V7M16.5 13v3.5H13M7 16.5H3.5V13",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  close: "M5 5l10 10M15 5L5 15",
  download: "M10 3v9M6 8.5l4 4 4-4M4 16.5h12",
  light:
    "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7M10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6L16 16M4 16l1.4-1.4M14.6 5.4L16 4",
  dark: "M16 11.8A6.5 6.5 0 1 1 8.2 4a5.2 5.2 0 0 0 7.8 7.8z",
  auto: "M10 3.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M10 3.5v13M10 6l4 3M10 9.5l5 3.500M10 13l3 2",
  forces: "M4 16L15 5M9.500 4.500H15.500V10.500",
  contacts: "M2.500 15.500h15M10 15.500a4.500 4.500 0 1 1 .01 0M10 15.500v.01",
  trails: "M2.500 15.500c3-10 6-10 7.500-5s4 4 7.500-5.500",
  centres: "M10 3a7 7 0 1 0 0 14a7 7 0 1 0 0-14M10 3v14M3 10h14",
  markers: "M10 2.500v4M10 13.500v4M2.500 10h4M13.500 10h4M10 9.500v1",
  names: "M4 16L9 4h2l5 12M6 12h8",
  search: "M9 4a5 5 0 1 0 0 10a5 5 0 1 0 0-10M12.700 12.700L16.500 16.500",
} as const;

export type IconName = keyof typeof ICONS;
const SOLID: readonly IconName[] = ["play", "pause"];

export function icon(name: IconName): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", SOLID.includes(name) ? "ns-icon ns-solid" : "ns-icon");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon, named for those who do not see it. */
export function iconButton(
  name: IconName,
  label: string,
  onClick: () => void,
  attributes: Record<string, Value> = {},
): HTMLButtonElement {
  const button = make(
    "button",
    {
      type: "button",
      class: "ns-button",
      title: label,
      "aria-label": label,
      ...attributes,
      onclick: onClick,
    },
    icon(name),
  );
  return button;
}

/** Put a style sheet into the document (or shadow root) of a node, once. */
export function addStyle(node: Node, id: string, text: string): void {
  const root = node.getRootNode();
  const home = root instanceof ShadowRoot ? root : document.head;
  if (home.querySelector(`#${id}`)) return;
  home.append(make("style", { id }, text));
}

/** Hand a text, or what else there is, to the reader as a file. */
export function download(
  name: string,
  content: string | Blob,
  type = "text/csv",
): void {
  const isText = typeof content === "string";
  const address = URL.createObjectURL(
    isText ? new Blob([content], { type: `${type};charset=utf-8` }) : content,
  );
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
