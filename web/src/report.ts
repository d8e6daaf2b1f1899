/** The page of a report: one run, whose data stand in the page itself. */

import { Run } from "./run";
import { addStyle } from "./ui/dom";
import { fromText, toText } from "./ui/state";
import { Viewer, showError } from "./viewer";

declare global {
  interface Window {
    nonsmooth?: { viewer: Viewer; run: Run };
  }
}

// The page is the viewer's alone. On paper its height is that of a sheet.
const PAGE = `
  html, body { margin: 0; height: 100%; }
  #nonsmooth { height: 100vh; height: 100dvh; min-height: 480px; }
  @media print { #nonsmooth { height: 95vh; } }
`;

/** Return bytes written as base64. */
export function fromBase64(text: string): Uint8Array {
  const raw = atob(text.replace(/\s+/g, ""));
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

function unpackText(text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    throw new Error("the run's data in the page are damaged");
  }
}

async function open(root: HTMLElement): Promise<void> {
  performance.mark("nonsmooth-start");
  const data = document.getElementById("scene")?.textContent ?? "";
  if (data.trim() === "") throw new Error("the page holds no run");
  const run = await Run.read(unpackText(data));
  performance.mark("nonsmooth-read");
  const viewer = new Viewer(root, [run], {
    state: fromText(location.hash),
    // In a frame of another page the wheel scrolls that page.
    compact: window.self !== window.top,
    onState: (state) => {
      try {
        history.replaceState(null, "", `#${toText(state)}`);
      } catch {
        // Some browsers refuse this for files; the page works without.
      }
    },
  });
  window.addEventListener("hashchange", () => viewer.setState(fromText(location.hash)));
  window.nonsmooth = { viewer, run };
  requestAnimationFrame(() => {
    performance.mark("nonsmooth-shown");
    performance.measure("nonsmooth-open", "nonsmooth-start", "nonsmooth-shown");
  });
}

async function main(): Promise<void> {
  const root = document.getElementById("nonsmooth");
  if (!root) return;
  addStyle(root, "nonsmooth-page-style", PAGE);
  try {
    await open(root);
  } catch (error) {
    console.error(error);
    showError(root, error);
  }
}

void main();
