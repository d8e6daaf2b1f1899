/** A film of the picture, recorded while it is played. */

import { make } from "./dom";

const RATE = 30; // pictures in a second
const BITS = 6_000_000; // in a second: lines stay sharp
const TYPES = [
  "video/webm;codecs=vp9",
  "video/webm;codecs=vp8",
  "video/webm",
  "video/mp4",
];

export class Film {
  readonly root: HTMLElement;
  private readonly recorder: MediaRecorder;
  private readonly parts: Blob[] = [];
  private readonly stream: MediaStream;
  private isWanted = true;

  /** Begin to record; `done` is given the film, or null if it was given up. */
  constructor(
    canvas: HTMLCanvasElement,
    private readonly done: (film: Blob | null, ending: string) => void,
  ) {
    this.stream = canvas.captureStream(RATE);
    const type = TYPES.find((name) => MediaRecorder.isTypeSupported(name)) ?? "";
    this.recorder = new MediaRecorder(this.stream, {
      mimeType: type,
      videoBitsPerSecond: BITS,
    });
    this.recorder.addEventListener("dataavailable", ({ data }) => {
      if (data.size > 0) this.parts.push(data);
    });
    this.recorder.addEventListener("stop", () => this.finish());
    this.root = make(
      "div",
      { class: "ns-filming", role: "status", test: "filming" },
      "Filming …",
      make(
        "button",
        { type: "button", test: "film-stop", onclick: () => this.end(false) },
        "give up",
      ),
    );
    this.recorder.start(200);
  }

  /** End it; what was recorded is wanted, or not. */
  end(isWanted: boolean): void {
    if (this.recorder.state === "inactive") return;
    this.isWanted = isWanted;
    // The last picture takes a moment to arrive.
    setTimeout(
      () => this.recorder.state !== "inactive" && this.recorder.stop(),
      3000 / RATE,
    );
  }

  private finish(): void {
    for (const track of this.stream.getTracks()) track.stop();
    this.root.remove();
    const type = this.recorder.mimeType || "video/webm";
    const film = this.isWanted ? new Blob(this.parts, { type }) : null;
    this.done(film, type.includes("mp4") ? ".mp4" : ".webm");
  }
}
