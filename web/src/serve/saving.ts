/** Asks for the name under which a text is saved. */

import { make } from "../ui/dom";

export class SaveDialog {
  private readonly name = make("input", {
    type: "text",
    class: "sv-file-name",
    id: "sv-file-name",
    test: "save-name",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly error = make("div", { class: "sv-error", role: "alert" });
  readonly root: HTMLDialogElement;

  /** `save` returns what is wrong with a name, "" if it is saved. */
  constructor(private readonly save: (name: string) => Promise<string>) {
    const form = make(
      "form",
      {
        method: "dialog",
        onsubmit: (event: Event) => {
          event.preventDefault();
          void this.use();
        },
      },
      make("h2", {}, "Save in the folder"),
      make("label", { for: "sv-file-name" }, "name of the file"),
      this.name,
      this.error,
      make(
        "div",
        { class: "sv-buttons" },
        make(
          "button",
          { type: "button", class: "sv-cancel", onclick: () => this.root.close() },
          "Cancel",
        ),
        make("button", { type: "submit", class: "sv-run", test: "save-use" }, "Save"),
      ),
    );
    this.root = make("dialog", { class: "sv-dialog", "aria-label": "save" }, form);
  }

  open(name: string): void {
    this.name.value = name;
    this.error.textContent = "";
    this.root.showModal();
    this.name.select();
  }

  private async use(): Promise<void> {
    const wrong = await this.save(this.name.value.trim());
    this.error.textContent = wrong;
    if (wrong === "") this.root.close();
  }
}
