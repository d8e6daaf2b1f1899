/** Talking to the server of `nonsmooth serve`; its package's docstring lists all. */

import type { Scalar } from "../format";
import type { Schema } from "./complete";

export interface ParameterInfo {
  name: string;
  type: "int" | "float" | "bool" | "str" | "choice";
  default: Scalar; // null: another parameter sets it
  unit: string;
  meaning: string;
  low: number | null;
  high: number | null;
  choices: string[];
}

export interface SystemInfo {
  name: string;
  summary: string;
  story: string;
  duration: number; // s
  parameters: ParameterInfo[];
}

export interface Gallery {
  version: string;
  systems: SystemInfo[];
  methods: string[];
  schemes: string[];
  branches: string[];
}

/** What a check or a run is asked for by. */
export interface Request {
  system?: string;
  file?: string;
  text?: string;
  format?: "yaml" | "json";
  name?: string;
  parameters: Record<string, Scalar>;
  // As text if it is not a number: the server says so. Null in its answers: its own.
  until?: number | string | null;
  options: Record<string, Scalar>;
}

export type RunState =
  "queued" | "running" | "finished" | "stopped" | "failed" | "cancelled";

export interface RunStatus {
  id: string;
  state: RunState;
  progress: number; // 0 to 1
  phase: string;
  message: string;
  seconds: number;
  until: number; // s
  title: string;
  has_scene: boolean;
  summary: {
    t_end: number;
    n_events: number;
    steps: number;
    notes: string[];
  } | null;
  request: Request;
}

export type Check =
  | {
      ok: true;
      title: string;
      until: number | null; // s, of a model that says so
      parameters: ParameterInfo[];
    }
  | { ok: false; error: string; errors: string[]; field: string | null };

/** A model as a file; the stamp tells whether the file has changed since. */
export interface TextInfo {
  name: string;
  text: string;
  format: "yaml" | "json";
  stamp: string | null; // null: it is no file yet
}

/** The server refused; the text is for the user. */
export class Refusal extends Error {
  readonly status: number;
  readonly field: string | null;

  constructor(message: string, status: number, field: string | null) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

/** The server does not answer. */
export class Lost extends Error {
  constructor() {
    super("the server does not answer");
  }
}

type Fetch = (address: string, init?: RequestInit) => Promise<Response>;

export class Api {
  private readonly fetch: Fetch;

  constructor(send: Fetch = (address, init) => fetch(address, init)) {
    this.fetch = send;
  }

  systems(): Promise<Gallery> {
    return this.get("api/systems");
  }

  files(): Promise<{ folder: string; files: string[] }> {
    return this.get("api/files");
  }

  check(request: Request, signal?: AbortSignal): Promise<Check> {
    return this.send("POST", "api/check", request, signal);
  }

  /** Return the scene of a model as it starts. */
  async draw(request: Request, signal?: AbortSignal): Promise<Uint8Array> {
    const answer = await this.answer("api/draw", posted(request, signal));
    return new Uint8Array(await answer.arrayBuffer());
  }

  schema(): Promise<Schema> {
    return this.get("api/schema");
  }

  text(request: Request): Promise<TextInfo> {
    return this.send("POST", "api/text", request);
  }

  save(
    file: string,
    text: string,
    stamp: string | null,
  ): Promise<{ file: string; stamp: string }> {
    return this.send("POST", "api/files", { file, text, stamp });
  }

  start(request: Request): Promise<{ id: string }> {
    return this.send("POST", "api/runs", request);
  }

  runs(): Promise<{ server: string; runs: RunStatus[] }> {
    return this.get("api/runs");
  }

  run(id: string): Promise<RunStatus> {
    return this.get(`api/runs/${encodeURIComponent(id)}`);
  }

  cancel(id: string): Promise<RunStatus> {
    return this.send("POST", `api/runs/${encodeURIComponent(id)}/cancel`, {});
  }

  async remove(id: string): Promise<void> {
    await this.send("DELETE", `api/runs/${encodeURIComponent(id)}`, {});
  }

  async scene(id: string): Promise<Uint8Array> {
    const answer = await this.answer(`api/runs/${encodeURIComponent(id)}/scene`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  reportAddress(id: string): string {
    return `api/runs/${encodeURIComponent(id)}/report`;
  }

  private async get<T>(path: string): Promise<T> {
    return (await (await this.answer(path)).json()) as T;
  }

  private async send<T>(
    method: string,
    path: string,
    data: unknown,
    signal?: AbortSignal,
  ): Promise<T> {
    const init = { ...posted(data, signal), method };
    return (await (await this.answer(path, init)).json()) as T;
  }

  private async answer(path: string, init?: RequestInit): Promise<Response> {
    let answer: Response;
    try {
      answer = await this.fetch(path, init);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new Lost();
    }
    if (answer.ok) return answer;
    const data = (await answer.json().catch(() => ({}))) as {
      error?: string;
      field?: string;
    };
    const message = data.error ?? `the server answers ${answer.status}`;
    throw new Refusal(message, answer.status, data.field ?? null);
  }
}

function posted(data: unknown, signal?: AbortSignal): RequestInit {
  const init: RequestInit = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(data),
  };
  if (signal) init.signal = signal;
  return init;
}
