/** Writing a model: its text beside the drawing, saved in the folder or as a file. */

import { download } from "../ui/dom";
import { Refusal, type Api, type Request } from "./api";
import type { TextSource } from "./choice";
import { EXAMPLE } from "./editor";
import type { Panel } from "./panel";

export interface WritingHost {
  request(): Request;
  edited(source: TextSource): void;
  saved(file: string): void;
  complain(error: unknown): void;
}

export class Writing {
  isOpen = false;
  private shown: TextSource | null = null; // what the editor was given
  private faults: readonly string[] = [];
  private turn = 0;

  constructor(
    private readonly api: Api,
    private readonly panel: Panel,
    private readonly host: WritingHost,
  ) {
    panel.editor.onChange = () => this.changed();
  }

  /** Show the text, or the parameters. */
  async turnTo(isText: boolean): Promise<void> {
    this.isOpen = isText;
    this.panel.setTab(isText);
    if (!isText) return;
    if (!this.panel.editor.schema) {
      this.api.schema().then(
        (schema) => (this.panel.editor.schema = schema),
        (error) => this.host.complain(error),
      );
    }
    await this.load();
  }

  /** Begin a model of one's own. */
  begin(): void {
    const name = this.panel.freeName("model.yaml");
    const source: TextSource = {
      kind: "text",
      name,
      text: EXAMPLE,
      format: "yaml",
      stamp: null,
    };
    this.host.edited(source);
    void this.turnTo(true);
  }

  /** Another source was chosen: its text is to be seen. */
  follow(): void {
    this.faults = [];
    if (this.isOpen) void this.load();
  }

  setFaults(messages: readonly string[]): void {
    this.faults = messages;
    if (this.isOpen) this.panel.editor.setFaults(messages);
  }

  /** Write the text into the folder; a name of null saves it as a file of the browser. */
  async save(name: string | null): Promise<string> {
    const { editor } = this.panel;
    const own = this.shown;
    if (!own) return "";
    if (name === null) {
      download(own.name.split("/").pop()!, editor.text, "text/plain");
      return "";
    }
    const stamp = name === own.name ? (own.stamp ?? null) : null;
    try {
      const { file, stamp: now } = await this.api.save(name, editor.text, stamp);
      this.shown = { ...own, name: file, text: editor.text, stamp: now };
      this.panel.setTextName(file);
      this.host.saved(file);
      return "";
    } catch (error) {
      if (!(error instanceof Refusal)) this.host.complain(error);
      return error instanceof Error ? error.message : String(error);
    }
  }

  private async load(): Promise<void> {
    const turn = ++this.turn;
    const { source } = this.panel.choice();
    if (source.kind === "text") {
      this.show(source);
      return;
    }
    try {
      const request = this.host.request();
      // A file is shown as it is, with its remarks.
      if (source.kind === "file") request.parameters = {};
      const { text, format, name, stamp } = await this.api.text(request);
      if (turn === this.turn) this.show({ kind: "text", name, text, format, stamp });
    } catch (error) {
      if (turn === this.turn) this.host.complain(error);
    }
  }

  private show(source: TextSource): void {
    this.shown = source;
    this.panel.editor.show(source.text, source.format === "json");
    this.panel.editor.setFaults(this.faults);
    this.panel.setTextName(source.name);
  }

  private changed(): void {
    if (!this.shown) return;
    this.shown = { ...this.shown, text: this.panel.editor.text };
    this.host.edited(this.shown);
  }
}
