/** Requests over HTTP to `lightlag studio`. */

/** A scenario in a file, with the files that it names in base 64. */
export interface Opened {
  name: string;
  text: string;
  format: "toml" | "json";
  files: Record<string, string>;
  error: string | null;
}

export interface Machine {
  version: string;
  cores: number;
  folders: string[];
  file: Opened | null;
}

export type Kind = "run" | "comparison" | "study" | "reproduction" | "study file" | "scenario";

/** Results, a study or a scenario in the directories. */
export interface Entry {
  place: string;
  kind: Kind;
  name: string;
  scenario: string | null;
  /** Date and time in UTC (ISO 8601). */
  date: string;
  hash: string | null;
  interrupted?: boolean;
  complete?: boolean;
}

export interface Found {
  entries: Entry[];
  /** Whether there are more entries than those listed. */
  more: boolean;
}

/** Error of a request; `status` is 0 if the server does not respond. */
export class ApiError extends Error {
  override name = "ApiError";

  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export const GONE =
  "lightlag studio has stopped or does not respond; start it again, and open the address that it prints";

export class Api {
  constructor(readonly token: string) {}

  about(): Promise<Machine> {
    return this.request("about");
  }

  results(): Promise<Found> {
    return this.request("results");
  }

  /** Returns a scenario, or the scenario of a run. */
  file(place: string): Promise<Opened> {
    return this.request(`file?${new URLSearchParams({ place })}`);
  }

  /** Returns a temporary address of the report of results. */
  async report(place: string): Promise<string> {
    const init = { method: "POST", body: JSON.stringify({ place }) };
    return (await this.request<{ address: string }>("report", init)).address;
  }

  private async request<T>(path: string, init: RequestInit = {}): Promise<T> {
    let answer: Response;
    try {
      answer = await fetch(`/api/${path}`, { ...init, headers: { Authorization: `Bearer ${this.token}` } });
    } catch {
      throw new ApiError(GONE, 0);
    }
    let body: unknown;
    try {
      body = await answer.json();
    } catch {
      throw new ApiError(
        `lightlag studio replied with status ${answer.status} and a body that is not JSON`,
        answer.status,
      );
    }
    if (!answer.ok) {
      const { error } = body as { error?: { message?: string } };
      throw new ApiError(error?.message ?? `lightlag studio replied with status ${answer.status}`, answer.status);
    }
    return body as T;
  }
}
