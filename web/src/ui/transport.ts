/** The bar with play, steps, speed, time and side. */

import type { Side } from "../run";
import { SPEEDS, speedLabel } from "./clock";
import { icon, iconButton, make } from "./dom";

export interface TransportHost {
  toggle(): void;
  previous(): void;
  next(): void;
  setSpeed(speed: number): void;
  setSide(side: Side): void;
  setLoop(isOn: boolean): void;
}

export class Transport {
  readonly root: HTMLElement;
  private readonly playButton: HTMLButtonElement;
  private readonly loopButton: HTMLButtonElement;
  private readonly speed: HTMLSelectElement;
  private readonly time: HTMLOutputElement;
  private readonly sides: Record<Side, HTMLButtonElement>;
  private readonly sideBox: HTMLElement;
  private readonly event: HTMLElement;
  private isPlaying: boolean | null = null;

  constructor(host: TransportHost, hasEvents: boolean) {
    this.playButton = iconButton("play", "play (space)", () => host.toggle(), {
      class: "ns-button ns-play",
    });
    const previous = iconButton(
      "previous",
      "previous event (,)",
      () => host.previous(),
      {
        test: "prev-event",
        disabled: !hasEvents,
      },
    );
    const next = iconButton("next", "next event (.)", () => host.next(), {
      test: "next-event",
      disabled: !hasEvents,
    });
    this.loopButton = iconButton(
      "loop",
      "repeat what is seen on the timeline",
      () => {
        host.setLoop(this.loopButton.getAttribute("aria-pressed") !== "true");
      },
      { test: "loop", "aria-pressed": "false" },
    );
    this.speed = make(
      "select",
      {
        class: "ns-speed",
        test: "speed",
        "aria-label": "speed",
        title: "speed: time of the run per time of watching",
        onchange: () => host.setSpeed(Number(this.speed.value)),
      },
      ...SPEEDS.map((speed) => make("option", { value: speed }, speedLabel(speed))),
    );
    this.time = make("output", {
      class: "ns-time",
      test: "time",
      "aria-label": "time",
      "aria-live": "off",
    });
    const side = (name: Side) =>
      make(
        "button",
        { type: "button", "aria-pressed": "false", onclick: () => host.setSide(name) },
        name,
      );
    this.sides = { before: side("before"), after: side("after") };
    this.sideBox = make(
      "div",
      {
        class: "ns-sides",
        test: "side",
        role: "group",
        "aria-label": "side of the event",
        title: "which side of the event is shown (b)",
      },
      this.sides.before,
      this.sides.after,
    );
    this.event = make("div", { class: "ns-now", test: "event-now" });
    this.root = make(
      "div",
      { class: "ns-transport" },
      make(
        "div",
        { class: "ns-buttons" },
        previous,
        this.playButton,
        next,
        this.loopButton,
      ),
      make("div", { class: "ns-clock" }, this.time, this.sideBox),
      this.event,
      this.speed,
    );
    this.setPlaying(false);
  }

  setPlaying(isPlaying: boolean): void {
    if (isPlaying === this.isPlaying) return;
    this.isPlaying = isPlaying;
    const label = isPlaying ? "pause (space)" : "play (space)";
    this.playButton.dataset.test = isPlaying ? "pause" : "play";
    this.playButton.setAttribute("aria-label", label);
    this.playButton.title = label;
    this.playButton.replaceChildren(icon(isPlaying ? "pause" : "play"));
  }

  setLoop(isOn: boolean): void {
    this.loopButton.setAttribute("aria-pressed", String(isOn));
  }

  setSpeed(speed: number): void {
    const text = String(speed);
    if (![...this.speed.options].some((option) => option.value === text)) {
      this.speed.append(make("option", { value: speed }, speedLabel(speed)));
    }
    this.speed.value = text;
  }

  /** Show the time, and at an event the side. */
  setTime(text: string, side: Side, isAtEvent: boolean, event: string): void {
    this.time.textContent = text;
    this.sideBox.classList.toggle("ns-off", !isAtEvent);
    this.sideBox.dataset.side = isAtEvent ? side : "";
    for (const name of ["before", "after"] as const) {
      this.sides[name].disabled = !isAtEvent;
      this.sides[name].setAttribute("aria-pressed", String(isAtEvent && side === name));
    }
    if (this.event.textContent !== event) this.event.textContent = event;
  }
}
