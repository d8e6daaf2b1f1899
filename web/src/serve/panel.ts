/** The panel beside the viewer: pick, change, run, and the runs so far. */

import { make } from "../ui/dom";
import type { Gallery, RunStatus, SystemInfo } from "./api";
import { label, sourceName, type Choice, type Source } from "./choice";
import { Form } from "./form";
import { story } from "./story";
import { isOver } from "./tracker";
import { shown } from "./scale";

const MAX_TEXT = 900_000; // bytes; the server takes 1 MB with all around it
const SUFFIX = /\.(ya?ml|json)$/i;

export interface Listed {
  run: RunStatus;
  isShown: boolean;
  isCompared: boolean;
  isAlike: boolean; // of the same system as the run shown
}

/** What the panel asks its owner to do. */
export interface Actions {
  source(source: Source): void;
  change(): void;
  run(): void;
  cancel(): void;
  show(id: string): void;
  compare(id: string, isOn: boolean): void;
  remove(id: string): void;
  reportAddress(id: string): string;
}

export class Panel {
  readonly root: HTMLElement;
  readonly form = new Form();
  private readonly gallery: Gallery;
  private readonly actions: Actions;
  private source: Source;
  private opened: Extract<Source, { kind: "text" }>[] = [];
  private files: string[] = [];
  private folder = "";

  private readonly select = make("select", { test: "system", "aria-label": "system" });
  private readonly upload = make("input", {
    type: "file",
    accept: ".yaml,.yml,.json",
    test: "upload",
    class: "sv-hidden",
    tabindex: -1,
    "aria-label": "open a model file",
  });
  private readonly summary = make("p", { class: "sv-summary" });
  private readonly story = make("div", { class: "sv-story" });
  private readonly storyFold = make(
    "details",
    {},
    make("summary", {}, "What it is"),
    this.story,
  );
  private readonly count = make("span", { class: "sv-count" });
  private readonly resetAll = make(
    "button",
    { type: "button", class: "sv-link", test: "reset", hidden: true },
    "reset all",
  );
  private readonly until = make("input", {
    type: "text",
    inputmode: "decimal",
    id: "until",
    test: "until",
    class: "sv-field",
    autocomplete: "off",
  });
  private readonly untilError = make("div", { class: "sv-error", role: "alert" });
  private readonly options = new Map<string, HTMLInputElement | HTMLSelectElement>();
  private readonly optionErrors = new Map<string, HTMLElement>();
  private readonly optionFold: HTMLDetailsElement;
  private readonly runButton = make(
    "button",
    { type: "button", class: "sv-run", test: "run", title: "Ctrl+Enter" },
    "Run",
  );
  private readonly cancelButton = make(
    "button",
    { type: "button", class: "sv-cancel", test: "cancel", hidden: true },
    "Cancel",
  );
  private readonly bar = make("div", { class: "sv-bar-fill" });
  private readonly progress = make(
    "div",
    {
      class: "sv-progress",
      test: "progress",
      role: "progressbar",
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-label": "progress of the run",
      hidden: true,
    },
    make("div", { class: "sv-bar" }, this.bar),
  );
  private readonly phase = make("span", { class: "sv-phase" });
  private readonly message = make("div", {
    class: "sv-message",
    test: "message",
    role: "status",
    "aria-live": "polite",
  });
  private readonly list = make("ul", { class: "sv-runs", test: "runs" });
  private readonly paste: HTMLDialogElement;

  constructor(gallery: Gallery, actions: Actions) {
    this.gallery = gallery;
    this.actions = actions;
    this.source = { kind: "system", name: gallery.systems[0]?.name ?? "" };
    this.paste = this.pasteDialog();
    this.optionFold = this.optionFields();
    this.progress.append(this.phase);
    this.form.onChange = () => this.changed();
    this.resetAll.addEventListener("click", () => this.form.reset());
    this.until.addEventListener("input", () => this.changed());
    this.select.addEventListener("change", () => this.picked());
    this.upload.addEventListener("change", () => void this.read(this.upload.files));
    this.runButton.addEventListener("click", () => actions.run());
    this.cancelButton.addEventListener("click", () => actions.cancel());
    const open = () => this.upload.click();
    this.root = make(
      "section",
      { class: "sv-panel", "aria-label": "model and runs" },
      make(
        "header",
        { class: "sv-brand" },
        make("strong", {}, "nonsmooth"),
        make("span", { class: "sv-version" }, gallery.version),
      ),
      make(
        "div",
        { class: "sv-scroll" },
        make("div", { class: "sv-pick" }, this.select, this.upload),
        make(
          "div",
          { class: "sv-open" },
          make(
            "button",
            { type: "button", class: "sv-link", onclick: open },
            "open a file",
          ),
          make(
            "button",
            {
              type: "button",
              class: "sv-link",
              test: "paste",
              onclick: () => this.paste.showModal(),
            },
            "paste a model",
          ),
        ),
        this.summary,
        this.storyFold,
        make("h2", {}, "Parameters", this.count, this.resetAll),
        this.form.root,
        this.optionFold,
      ),
      make(
        "div",
        { class: "sv-foot" },
        make(
          "div",
          { class: "sv-buttons" },
          make(
            "label",
            { class: "sv-until", title: "time simulated" },
            "until",
            this.until,
            "s",
          ),
          this.runButton,
          this.cancelButton,
        ),
        this.untilError,
        this.progress,
        this.message,
        this.list,
      ),
      this.paste,
    );
  }

  setFiles(folder: string, files: string[]): void {
    this.folder = folder;
    this.files = files;
    this.fillSelect();
  }

  /** Return what the form says. */
  choice(): Choice {
    const options: Record<string, string> = {};
    for (const [name, field] of this.options) {
      const isBox = field instanceof HTMLInputElement && field.type === "checkbox";
      const text = isBox ? (field.checked ? "true" : "") : field.value.trim();
      if (text !== "") options[name] = text;
    }
    const duration = this.system()?.duration;
    const until = this.until.value.trim();
    return {
      source: this.source,
      values: this.form.values(),
      until: until === shown(duration ?? null) ? "" : until,
      options,
    };
  }

  /** Return a text that was opened in this page. */
  textOf(name: string): Source | undefined {
    return this.opened.find((text) => text.name === name);
  }

  /** Write a choice into the form. A model's own fields come later, by `showFields`. */
  setChoice(choice: Choice): void {
    this.source = choice.source;
    if (choice.source.kind === "text" && choice.source.text !== "") {
      const { name } = choice.source;
      this.opened = [
        choice.source,
        ...this.opened.filter((text) => text.name !== name),
      ];
    }
    this.fillSelect();
    const system = this.system();
    this.summary.textContent = system ? `${system.summary}.` : this.sourceWords();
    this.story.replaceChildren(...(system ? story(system.story) : []));
    this.storyFold.hidden = !system;
    this.form.show(system?.parameters ?? [], choice.values);
    this.until.value = choice.until || shown(system?.duration ?? null);
    this.until.placeholder = system ? "" : "give a time";
    for (const [name, field] of this.options) {
      const text = choice.options[name] ?? "";
      if (field instanceof HTMLInputElement && field.type === "checkbox") {
        field.checked = text === "true";
      } else field.value = text;
    }
    if (Object.keys(choice.options).length > 0) this.optionFold.open = true;
    this.setError(null, "");
    this.marks();
  }

  /** Show the fields of a model that has been read. */
  showFields(
    title: string,
    infos: Parameters<Form["show"]>[0],
    values: Choice["values"],
  ) {
    if (this.source.kind === "system") return;
    this.summary.textContent = title === "" ? this.sourceWords() : title;
    this.form.show(infos, values);
    this.marks();
  }

  /** Put a message where it belongs; at the bottom if it is about nothing here. */
  setError(name: string | null, message: string): void {
    let isPlaced = this.form.setError(name, message);
    this.untilError.textContent = name === "until" ? message : "";
    isPlaced ||= name === "until";
    for (const [option, node] of this.optionErrors) {
      const isIt = option === name && !isPlaced;
      node.textContent = isIt ? message : "";
      if (isIt) this.optionFold.open = true;
    }
    isPlaced ||= name !== null && this.optionErrors.has(name);
    this.setMessage(isPlaced ? "" : message, "wrong");
    this.runButton.classList.toggle("sv-doubtful", message !== "");
  }

  setMessage(text: string, kind: "wrong" | "plain" = "plain"): void {
    this.message.textContent = text;
    this.message.classList.toggle("sv-bad", kind === "wrong" && text !== "");
  }

  /** Show how the run under way is doing; null if there is none. */
  setProgress(run: RunStatus | null): void {
    const isBusy = run !== null && !isOver(run);
    this.progress.hidden = !isBusy;
    this.cancelButton.hidden = !isBusy;
    this.root.classList.toggle("sv-busy", isBusy);
    if (!isBusy) return;
    const part = Math.round(1000 * run.progress) / 10;
    const isMoving = run.phase === "simulating";
    this.progress.classList.toggle("sv-unknown", !isMoving);
    this.bar.style.width = isMoving ? `${part}%` : "";
    this.progress.setAttribute("aria-valuenow", String(Math.round(part)));
    const time = `t = ${(run.progress * run.until).toPrecision(3)} of ${run.until} s`;
    this.phase.textContent = `${isMoving ? time : run.phase} · ${run.seconds.toFixed(1)} s`;
    this.cancelButton.disabled = run.phase === "cancelling";
  }

  setRuns(listed: readonly Listed[]): void {
    this.list.replaceChildren(...listed.map((item) => this.item(item)));
    this.list.hidden = listed.length === 0;
  }

  /** Take files that were chosen or dropped. */
  async read(files: FileList | null): Promise<void> {
    const file = files?.[0];
    this.upload.value = "";
    if (!file) return;
    if (!SUFFIX.test(file.name)) {
      this.setMessage(
        `${file.name}: a model file ends in .yaml, .yml or .json`,
        "wrong",
      );
    } else if (file.size > MAX_TEXT) {
      this.setMessage(`${file.name} is larger than 0.9 MB, the limit here`, "wrong");
    } else {
      const format = /json$/i.test(file.name) ? "json" : "yaml";
      const text = await file.text();
      this.actions.source({ kind: "text", name: file.name, text, format });
    }
  }

  // ---- inside --------------------------------------------------------------------

  private system(): SystemInfo | undefined {
    if (this.source.kind !== "system") return undefined;
    return this.gallery.systems.find((system) => system.name === this.source.name);
  }

  private sourceWords(): string {
    return this.source.kind === "file" ? `model file in ${this.folder}` : "model";
  }

  private changed(): void {
    this.marks();
    this.actions.change();
  }

  private marks(): void {
    const n = Object.keys(this.form.values()).length;
    this.count.textContent = n > 0 ? `${n} changed` : "";
    this.resetAll.hidden = n === 0;
  }

  private fillSelect(): void {
    const group = (name: string, kind: string, items: readonly [string, string][]) =>
      make(
        "optgroup",
        { label: name },
        ...items.map(([value, text]) =>
          make("option", { value: `${kind}:${value}` }, text),
        ),
      );
    const systems = this.gallery.systems.map(
      ({ name, summary }) => [name, `${name} — ${summary}`] as [string, string],
    );
    const groups = [group("Gallery", "system", systems)];
    const files = this.files.map((name) => [name, name] as [string, string]);
    const { kind, name } = this.source;
    if (kind === "file" && !this.files.includes(name)) files.push([name, name]);
    if (files.length > 0) groups.push(group(`Files in ${this.folder}`, "file", files));
    const texts = this.opened.map((text) => [text.name, text.name] as [string, string]);
    if (kind === "text" && texts.every(([known]) => known !== name))
      texts.push([name, name]);
    if (texts.length > 0) groups.push(group("Opened", "text", texts));
    // Gallery systems are chosen by their bare name, which end-to-end tests rely on.
    for (const option of groups[0]!.querySelectorAll("option")) {
      option.value = option.value.replace("system:", "");
    }
    this.select.replaceChildren(...groups);
    this.select.value = kind === "system" ? name : `${kind}:${name}`;
  }

  private picked(): void {
    const [, kind, name] = /^(?:(file|text):)?(.*)$/s.exec(this.select.value)!;
    const text = this.opened.find((item) => item.name === name);
    if (kind === "text" && text) this.actions.source(text);
    else if (kind === "file") this.actions.source({ kind, name: name! });
    else if (!kind) this.actions.source({ kind: "system", name: name! });
  }

  private optionFields(): HTMLDetailsElement {
    const { methods, schemes, branches } = this.gallery;
    const rows: HTMLElement[] = [];
    const add = (
      name: string,
      what: string,
      field: HTMLInputElement | HTMLSelectElement,
    ) => {
      this.options.set(name, field);
      field.id = `option-${name}`;
      field.dataset["test"] = `option-${name}`;
      field.addEventListener("input", () => this.changed());
      const error = make("div", { class: "sv-error", role: "alert" });
      this.optionErrors.set(name, error);
      const line = make("label", { for: field.id, class: "sv-name" }, name);
      const unit = ["step", "max_step"].includes(name) ? "s" : "";
      rows.push(
        make(
          "div",
          { class: "sv-param", title: what },
          make(
            "div",
            { class: "sv-line" },
            line,
            field,
            make("span", { class: "sv-unit" }, unit),
          ),
          error,
        ),
      );
    };
    const number = (placeholder: string) =>
      make("input", {
        type: "text",
        inputmode: "decimal",
        class: "sv-field",
        placeholder,
        autocomplete: "off",
      });
    const select = (names: readonly string[]) =>
      make(
        "select",
        {},
        ...names.map((name, k) => make("option", { value: k === 0 ? "" : name }, name)),
      );
    add("method", "how the motion is integrated", select(methods));
    add("rtol", "admissible error of a step, relative", number("1e-8"));
    add("atol", "the same, absolute; a hundredth of rtol by default", number("auto"));
    add("max_step", "largest step", number("none"));
    add("step", "step of rk4, euler, semi_implicit_euler", number("none"));
    add("scheme", "paper: fixed steps, for comparison", select(schemes));
    add(
      "branch",
      "what to do where friction in joints has several solutions",
      select(branches),
    );
    const box = make("input", { type: "checkbox" });
    add("assemble", "move an inconsistent start to the nearest consistent one", box);
    const head = make("summary", {}, "Solver");
    return make("details", { test: "solver" }, head, ...rows);
  }

  private pasteDialog(): HTMLDialogElement {
    const text = make("textarea", {
      test: "paste-text",
      spellcheck: "false",
      rows: 18,
      "aria-label": "a model in YAML or JSON",
      placeholder: "nonsmooth: 1\ngravity: [0, -9.81]\nbodies:\n  - ...",
    });
    const close = () => dialog.close();
    const use = () => {
      const format = text.value.trimStart().startsWith("{") ? "json" : "yaml";
      if (text.value.trim() === "") return;
      dialog.close();
      if (text.value.length > MAX_TEXT) {
        this.setMessage("the text is larger than 0.9 MB, the limit here", "wrong");
        return;
      }
      const name = `pasted ${this.opened.length + 1}`;
      this.actions.source({ kind: "text", name, text: text.value, format });
    };
    const dialog = make(
      "dialog",
      { class: "sv-dialog", "aria-label": "paste a model" },
      make("h2", {}, "Paste a model"),
      text,
      make(
        "div",
        { class: "sv-buttons" },
        make(
          "button",
          { type: "button", class: "sv-cancel", onclick: close },
          "Cancel",
        ),
        make(
          "button",
          { type: "button", class: "sv-run", test: "paste-use", onclick: use },
          "Use it",
        ),
      ),
    );
    return dialog;
  }

  private item({ run, isShown, isCompared, isAlike }: Listed): HTMLElement {
    const { id } = run;
    const box = make("input", {
      type: "checkbox",
      test: `compare-${id}`,
      title: isAlike ? "compare with the run shown" : "of another system",
      "aria-label": `compare run ${id}`,
      disabled: !run.has_scene || isShown || !isAlike,
      onchange: () => this.actions.compare(id, box.checked),
    });
    box.checked = isCompared || isShown;
    const source = sourceName(run.request);
    const words = label(run.request);
    const show = make(
      "button",
      {
        type: "button",
        class: "sv-show",
        test: `run-${id}`,
        "data-state": run.state,
        "aria-current": isShown ? "true" : null,
        disabled: !run.has_scene,
        title: run.message || run.phase,
        onclick: () => this.actions.show(id),
      },
      make("span", { class: "sv-id" }, id),
      make("span", { class: "sv-what" }, make("b", {}, source), ` ${words}`),
      make("span", { class: `sv-state sv-${run.state}` }, run.state),
    );
    const report = run.has_scene
      ? make(
          "a",
          {
            class: "sv-small",
            href: this.actions.reportAddress(id),
            download: true,
            title: "save as a page of its own",
            "aria-label": `report of run ${id}`,
            test: `report-${id}`,
          },
          "⤓",
        )
      : null;
    const remove = make(
      "button",
      {
        type: "button",
        class: "sv-small",
        title: "delete",
        "aria-label": `delete run ${id}`,
        test: `delete-${id}`,
        onclick: () => this.actions.remove(id),
      },
      "×",
    );
    return make("li", { class: isShown ? "sv-shown" : "" }, box, show, report, remove);
  }
}
