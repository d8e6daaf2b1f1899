/**
 * The notebook widget (anywidget): the viewer of one run in the output of a cell.
 *
 * The Python side holds `scene` (the document's bytes), `state` (what the viewer shows,
 * read and set from both sides) and `height` in pixels.
 */

import { Run } from "./run";
import { fromObject } from "./ui/state";
import { Viewer, showError } from "./viewer";

/** What is used of anywidget's model. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

const HEIGHT = 560; // px
const REPORTS = 300; // ms between messages to the kernel
/** Return the bytes of a trait: a DataView, or any other view of a buffer. */
export function bytes(value: unknown): Uint8Array {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  throw new Error("the widget holds no run");
}

export function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  let viewer: Viewer | null = null;
  let isOver = false;
  let turn = 0; // of the scene that is being read; an older one is late
  let sent = "";
  let timer: ReturnType<typeof setTimeout> | null = null;
  const root = document.createElement("div");
  root.className = "nonsmooth-widget";
  el.append(root);

  const resize = () => {
    const height = Number(model.get("height"));
    root.style.height = `${height > 0 ? height : HEIGHT}px`;
  };

  const send = () => {
    timer = null;
    if (isOver || !viewer || viewer.isPlaying) return;
    const state = viewer.state();
    const text = JSON.stringify(state);
    if (text === sent) return;
    sent = text;
    model.set("state", state);
    model.save_changes();
  };
  const later = () => {
    if (timer === null) timer = setTimeout(send, REPORTS);
  };

  const receive = () => {
    const value = model.get("state");
    if (!viewer || JSON.stringify(value) === sent) return;
    viewer.setState(fromObject(value));
    sent = JSON.stringify(viewer.state());
  };

  const show = async () => {
    const mine = ++turn;
    try {
      const run = await Run.read(bytes(model.get("scene")));
      if (isOver || mine !== turn) return;
      if (viewer) viewer.setRuns([run]);
      else {
        root.replaceChildren();
        const state = fromObject(model.get("state"));
        viewer = new Viewer(root, [run], { compact: true, state, onState: later });
        sent = JSON.stringify(viewer.state());
      }
    } catch (error) {
      if (isOver || mine !== turn) return;
      viewer?.dispose();
      viewer = null;
      showError(root, error);
    }
  };

  const showScene = () => void show();
  model.on("change:scene", showScene);
  model.on("change:state", receive);
  model.on("change:height", resize);
  resize();
  showScene();
  return () => {
    isOver = true;
    if (timer !== null) clearTimeout(timer);
    model.off("change:scene", showScene);
    model.off("change:state", receive);
    model.off("change:height", resize);
    viewer?.dispose();
    root.remove();
  };
}

export default { render };
