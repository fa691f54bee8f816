/** Opening of scenarios from this machine. */

import { door, take } from "../app/state.ts";
import { open } from "../app/views.ts";
import type { Entry, Opened } from "./api.ts";
import { notice, server } from "./machine.ts";

/** Opens a scenario, with or without errors, which are shown in place. Returns a notice for the user. */
export async function takeOpened({ name, text, format, files, error }: Opened): Promise<string> {
  if (text) {
    try {
      take(format === "json" ? await tomlOf(JSON.parse(text)) : text, files);
    } catch (mistake) {
      return `${name} was not opened: ${error ?? (mistake instanceof Error ? mistake.message : mistake)}`;
    }
  }
  return error ? `${name} has errors: ${error}` : "";
}

/** Opens the scenario of an entry with its files; the scenario of a run is complete, with all defaults. */
export async function openScenario({ place, name }: Pick<Entry, "place" | "name">): Promise<void> {
  const opened = await server().file(place);
  notice.value = await takeOpened({ ...opened, name });
  open("scenario");
}

async function tomlOf(scenario: unknown): Promise<string> {
  return (await door().ask({ op: "write", scenario })).toml;
}
