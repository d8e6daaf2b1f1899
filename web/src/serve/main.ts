/** The page of `nonsmooth serve`. */

import { addStyle, make } from "../ui/dom";
import { addStyles } from "../viewer";
import { Api } from "./api";
import { App } from "./app";
import style from "./serve.css?inline";
import { Tracker } from "./tracker";

declare global {
  interface Window {
    nonsmoothApp?: App;
  }
}

async function main(): Promise<void> {
  const root = document.getElementById("nonsmooth");
  if (!root) return;
  addStyles(root);
  addStyle(root, "nonsmooth-serve-style", style);
  const api = new Api();
  const tracker = new Tracker(api);
  const waiting = make("p", { class: "sv-empty", test: "message" }, "Loading …");
  root.replaceChildren(waiting);
  tracker.onLost = (isLost) => {
    waiting.textContent = isLost ? "The server does not answer. Trying again …" : "";
  };
  tracker.onForbidden = (message) => (waiting.textContent = message);
  const gallery = await tracker.ask(() => api.systems());
  if (gallery === null) {
    waiting.textContent ||= "The server refuses to answer; see its log.";
    return;
  }
  const app = new App(root, api, tracker, gallery);
  window.nonsmoothApp = app;
  await app.begin();
}

void main();
