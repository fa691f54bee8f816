/** Scenarios of this machine become the scenario of the page. */

import { door, take } from "../app/state.ts";
import { open } from "../app/views.ts";
import type { Entry, Opened } from "./api.ts";
import { notice, server } from "./machine.ts";

/** Takes a scenario, whatever is wrong with it: its mistakes are shown in place. Gives what is to be said of it. */
export async function takeOpened({ name, text, format, files, error }: Opened): Promise<string> {
  if (text) {
    try {
      take(format === "json" ? await tomlOf(JSON.parse(text)) : text, files);
    } catch (mistake) {
      return `${name} was not opened: ${error ?? (mistake instanceof Error ? mistake.message : mistake)}`;
    }
  }
  return error ? `${name} has mistakes: ${error}` : "";
}

/** Opens the scenario of an entry: of a run, the complete one with which it was made. */
export async function openScenario({ place, name, kind }: Pick<Entry, "place" | "name" | "kind">): Promise<void> {
  let says = "";
  if (kind === "scenario") {
    says = await takeOpened(await server().file(place));
  } else {
    const { scenario } = await server().summary(place);
    if (!scenario) {
      throw new Error(`${name} keeps no scenario`);
    }
    take(await tomlOf(scenario));
  }
  notice.value = says;
  open("scenario");
}

async function tomlOf(scenario: unknown): Promise<string> {
  return (await door().ask({ op: "write", scenario })).toml;
}
