/** Words for what a run is at, and what a message is about. */

import type { ViewerStatus } from "../viewer";
import type { ParameterInfo, RunStatus } from "./api";
import { isOver } from "./tracker";

/** Return what stands beside a drawing: how the run of it is doing, if there is one. */
export function statusOf(run: RunStatus | undefined): ViewerStatus {
  if (!run || run.has_scene) {
    const message = "Press Run to simulate it.";
    return { kind: "waiting", words: "not run yet", message };
  }
  if (isOver(run)) {
    const kind = run.state === "failed" ? "failed" : "stopped";
    return { kind, words: run.state, message: run.message };
  }
  const words = run.state === "queued" ? "waiting" : phaseWord(run.phase);
  return { kind: "waiting", words, message: run.phase };
}

function phaseWord(phase: string): string {
  if (phase.startsWith("compiling")) return "compiling";
  return phase === "simulating" ? "running" : "preparing";
}

/** Return the parameter a message of the gallery is about: "belt: mu = 0.9; must ...". */
export function fieldOf(
  message: string,
  infos: readonly ParameterInfo[],
): string | null {
  const found = /^[\w ]+: (\S+) = /.exec(message);
  const isKnown = infos.some((info) => info.name === found?.[1]);
  return isKnown ? found![1]! : null;
}
