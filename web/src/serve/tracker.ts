/** Following runs: asks the server how they are doing, until they are over. */

import { Lost, Refusal, type Api, type RunStatus } from "./api";

const QUICK = 150; // ms between questions at first
const SLOW = 400; // and later
const RETRY = 500; // ms, while the server is lost; it is on this computer

export function isOver(run: RunStatus): boolean {
  return run.state !== "queued" && run.state !== "running";
}

export class Tracker {
  onUpdate: (run: RunStatus) => void = () => {};
  onLost: (isLost: boolean) => void = () => {};
  /** The server is another one, and does not know us. */
  onForbidden: (message: string) => void = () => {};
  private readonly followed = new Map<string, Promise<RunStatus | null>>();
  private readonly api: Api;
  private readonly sleep: (ms: number) => Promise<void>;
  private isLost = false;

  constructor(
    api: Api,
    sleep = (ms: number) => new Promise<void>((r) => setTimeout(r, ms)),
  ) {
    this.api = api;
    this.sleep = sleep;
  }

  /** Follow a run to its end; null if the server has forgotten it. */
  follow(id: string): Promise<RunStatus | null> {
    let found = this.followed.get(id);
    if (!found) {
      found = this.watch(id).finally(() => this.followed.delete(id));
      this.followed.set(id, found);
    }
    return found;
  }

  private async watch(id: string): Promise<RunStatus | null> {
    // Once it is among those that are followed.
    await Promise.resolve();
    for (let k = 0; this.followed.has(id); k++) {
      const run = await this.ask(() => this.api.run(id));
      if (run === null || !this.followed.has(id)) return null;
      this.onUpdate(run);
      if (isOver(run)) return run;
      await this.sleep(k < 10 ? QUICK : SLOW);
    }
    return null;
  }

  forget(id: string): void {
    this.followed.delete(id);
  }

  /** Ask until the server answers; null if it refuses. */
  async ask<T>(question: () => Promise<T>): Promise<T | null> {
    for (;;) {
      try {
        const answer = await question();
        this.setLost(false);
        return answer;
      } catch (error) {
        if (!(error instanceof Lost)) {
          this.setLost(false);
          if (error instanceof Refusal && error.status === 403) {
            this.onForbidden(error.message);
          }
          return null;
        }
        this.setLost(true);
        await this.sleep(RETRY);
      }
    }
  }

  setLost(isLost: boolean): void {
    if (isLost === this.isLost) return;
    this.isLost = isLost;
    this.onLost(isLost);
  }
}
