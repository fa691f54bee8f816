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

/** Results, a study or a scenario below the folders. */
export interface Entry {
  place: string;
  kind: Kind;
  name: string;
  scenario: string | null;
  /** UTC, ISO 8601. */
  date: string;
  hash: string | null;
  interrupted?: boolean;
  complete?: boolean;
}

export interface Found {
  entries: Entry[];
  /** Whether there are more than these. */
  more: boolean;
}

/** Why a request has no answer; `status` is 0 where the server does not answer at all. */
export class ApiError extends Error {
  override name = "ApiError";

  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export const GONE = "lightlag studio has ended or does not answer; start it again, and open the address that it prints";

export class Api {
  constructor(readonly token: string) {}

  about(): Promise<Machine> {
    return this.asked("about");
  }

  results(): Promise<Found> {
    return this.asked("results");
  }

  /** A scenario, or that of a run. */
  file(place: string): Promise<Opened> {
    return this.asked(`file?${new URLSearchParams({ place })}`);
  }

  /** Where the report of results is for a while. */
  async report(place: string): Promise<string> {
    const init = { method: "POST", body: JSON.stringify({ place }) };
    return (await this.asked<{ address: string }>("report", init)).address;
  }

  private async asked<T>(path: string, init: RequestInit = {}): Promise<T> {
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
      throw new ApiError(`lightlag studio answered ${answer.status} with what is no JSON`, answer.status);
    }
    if (!answer.ok) {
      const { error } = body as { error?: { message?: string } };
      throw new ApiError(error?.message ?? `lightlag studio answered ${answer.status}`, answer.status);
    }
    return body as T;
  }
}
