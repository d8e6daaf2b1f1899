/** The panel beside the viewer: pick, change, run, and the runs so far. */

import { make } from "../ui/dom";
import type { Check, Gallery, RunStatus, SystemInfo } from "./api";
import { label, sourceName, type Choice, type Source, type TextSource } from "./choice";
import { Editor } from "./editor";
import { Form } from "./form";
import { optionFields, type OptionFields } from "./options";
import { readTexts, writeTexts } from "./texts";
import { SaveDialog } from "./saving";
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
  tab(isText: boolean): void;
  /** Begin a model of one's own. */
  write(): void;
  /** Save the text under a name, or as a file of the browser; return what is wrong. */
  save(name: string | null): Promise<string>;
}

export class Panel {
  readonly root: HTMLElement;
  readonly form = new Form();
  readonly editor = new Editor();
  private readonly gallery: Gallery;
  private readonly actions: Actions;
  private source: Source;
  private opened: TextSource[] = readTexts();
  private files: string[] = [];
  private own: number | null = null; // time to run of a model that says so, s
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
  private readonly options: OptionFields;
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
  private readonly saving: SaveDialog;
  private readonly tabs = (["Parameters", "Text"] as const).map((label, k) =>
    make(
      "button",
      {
        type: "button",
        class: "sv-tab",
        role: "tab",
        test: k === 0 ? "tab-form" : "tab-text",
        "aria-selected": String(k === 0),
        onclick: () => this.actions.tab(k === 1),
      },
      label,
    ),
  );
  private readonly formPane: HTMLElement;
  private readonly textPane: HTMLElement;
  private readonly textName = make("b", { class: "sv-text-name" });
  private readonly beside = make("span", { class: "sv-count" });

  constructor(gallery: Gallery, actions: Actions) {
    this.gallery = gallery;
    this.actions = actions;
    this.source = { kind: "system", name: gallery.systems[0]?.name ?? "" };
    this.saving = new SaveDialog((name) => actions.save(name));
    this.options = optionFields(gallery, () => this.changed());
    this.progress.append(this.phase);
    this.form.onChange = () => this.changed();
    this.resetAll.addEventListener("click", () => this.form.reset());
    this.until.addEventListener("input", () => this.changed());
    this.select.addEventListener("change", () => this.picked());
    this.upload.addEventListener("change", () => void this.read(this.upload.files));
    this.runButton.addEventListener("click", () => actions.run());
    this.cancelButton.addEventListener("click", () => actions.cancel());
    const link = (words: string, test: string, act: () => void) =>
      make("button", { type: "button", class: "sv-link", test, onclick: act }, words);
    this.formPane = make(
      "div",
      { class: "sv-scroll", role: "tabpanel" },
      this.summary,
      this.storyFold,
      make("h2", {}, "Parameters", this.count, this.resetAll),
      this.form.root,
      this.options.root,
    );
    const { textName } = this;
    this.textPane = make(
      "div",
      { class: "sv-text", role: "tabpanel", hidden: true },
      make(
        "div",
        { class: "sv-text-head" },
        textName,
        this.beside,
        link("save", "save", () => this.saving.open(textName.textContent ?? "")),
        link("download", "save-file", () => void actions.save(null)),
      ),
      this.editor.root,
    );
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
        { class: "sv-source" },
        make("div", { class: "sv-pick" }, this.select, this.upload),
        make(
          "div",
          { class: "sv-open" },
          link("open", "open", () => this.upload.click()),
          link("new", "new", () => actions.write()),
          make("span", { class: "sv-tabs", role: "tablist" }, ...this.tabs),
        ),
      ),
      this.formPane,
      this.textPane,
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
      this.saving.root,
    );
  }

  /** Show the text of the model, or its parameters. */
  setTab(isText: boolean): void {
    this.tabs.forEach((tab, k) =>
      tab.setAttribute("aria-selected", String(isText === (k === 1))),
    );
    this.formPane.hidden = isText;
    this.textPane.hidden = !isText;
    this.root.parentElement?.classList.toggle("sv-writing", isText);
    this.marks();
  }

  setTextName(name: string): void {
    this.textName.textContent = name;
    this.textName.title = name;
  }

  /** Return a name that no file and no text has. */
  freeName(name: string): string {
    const [, stem, ending] = /^(.*?)(\.\w+)$/.exec(name)!;
    const taken = [...this.files, ...this.opened.map((text) => text.name)];
    for (let k = 1; ; k++) {
      const free = k === 1 ? name : `${stem}-${k}${ending}`;
      if (!taken.includes(free)) return free;
    }
  }

  setFiles(folder: string, files: string[]): void {
    this.folder = folder;
    this.files = files;
    this.fillSelect();
  }

  /** Return what the form says. */
  choice(): Choice {
    const until = this.until.value.trim();
    return {
      source: this.source,
      values: this.form.values(),
      until: until === shown(this.duration) ? "" : until,
      options: this.options.values(),
    };
  }

  /** Return a text that was opened in this page. */
  textOf(name: string): TextSource | undefined {
    return this.opened.find((text) => text.name === name);
  }

  /** Write a choice into the form. A model's own fields come later, by `showFields`. */
  setChoice(choice: Choice): void {
    this.setSource(choice.source);
    const system = this.system();
    this.own = null;
    this.summary.textContent = system ? `${system.summary}.` : this.sourceWords();
    this.story.replaceChildren(...(system ? story(system.story) : []));
    this.storyFold.hidden = !system;
    this.form.show(system?.parameters ?? [], choice.values);
    this.until.value = choice.until || shown(this.duration);
    this.until.placeholder = system ? "" : "give a time";
    this.options.set(choice.options);
    this.setError(null, "");
    this.marks();
  }

  /** Name another source; what the form says stays. */
  setSource(source: Source): void {
    this.source = source;
    if (source.kind === "text" && source.text !== "") {
      const others = this.opened.filter((text) => text.name !== source.name);
      this.opened = [source, ...others];
      writeTexts(this.opened);
    }
    if (source.kind === "file") {
      // It is saved.
      this.opened = this.opened.filter((text) => text.name !== source.name);
      writeTexts(this.opened);
    }
    this.fillSelect();
  }

  /** Show the fields of a model that has been read. */
  showFields(
    { title, parameters, until }: Extract<Check, { ok: true }>,
    values: Choice["values"],
  ): void {
    if (this.source.kind === "system") return;
    this.summary.textContent = title === "" ? this.sourceWords() : title;
    // Fields of a text that is being written come and go.
    const known = new Set(parameters.map((info) => info.name));
    const kept = Object.entries(values).filter(([name]) => known.has(name));
    this.form.show(parameters, Object.fromEntries(kept));
    const isOwn = this.until.value.trim() === shown(this.own);
    this.own = until;
    if (isOwn) this.until.value = shown(until);
    this.marks();
  }

  /** How long the system, or the model, says that it runs, s. */
  private get duration(): number | null {
    return this.system()?.duration ?? this.own;
  }

  /** Put a message where it belongs; at the bottom if it is about nothing here. */
  setError(name: string | null, message: string): void {
    let isPlaced = this.form.setError(name, message);
    this.untilError.textContent = name === "until" ? message : "";
    isPlaced ||= name === "until";
    isPlaced = this.options.setError(isPlaced ? null : name, message) || isPlaced;
    this.setMessage(isPlaced ? "" : message, "wrong");
    this.runButton.classList.toggle("sv-doubtful", message !== "");
  }

  setMessage(text: string, kind: "wrong" | "plain" = "plain"): void {
    this.message.textContent = text;
    this.message.classList.toggle("sv-bad", kind === "wrong" && text !== "");
  }

  /** Show how the run under way is doing; null if there is none. */
  setProgress(run: RunStatus | null, waiting = 0): void {
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
    const others = run.state === "queued" ? waiting - 1 : waiting;
    const words = [`run ${run.id}`, isMoving ? time : run.phase];
    if (run.state !== "queued") words.push(`${run.seconds.toFixed(1)} s`);
    if (others > 0) words.push(`${others} more ${others > 1 ? "wait" : "waits"}`);
    this.phase.textContent = words.join(" · ");
    this.cancelButton.title = `cancel run ${run.id}`;
    // Said again, it drops what is being collected.
    this.cancelButton.textContent = run.phase.startsWith("collecting what")
      ? "Drop it"
      : "Cancel";
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
    this.beside.textContent = n > 0 ? `and ${n} changed beside it` : "";
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
      make(
        "span",
        { class: `sv-state sv-${run.state}` },
        run.state === "queued" ? "waiting" : run.state,
      ),
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
