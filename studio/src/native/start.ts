/** Loaded only if the page came from `lightlag studio`: one more view, and the choice of the engine. */

import { tools, view, views } from "../app/views.ts";
import { shared } from "../engine/here.ts";
import { connectWith, isThere, machine, notice, trouble } from "./machine.ts";
import { takeOpened } from "./opening.ts";
import { forgetToken } from "./token.ts";

const VIEW = { key: "native", name: "This machine", load: () => import("./view.tsx") };
const TOOL = { key: "engine", name: "Engine", load: () => import("./switch.tsx") };

/** Connects, shows the view, and opens the scenario that the server was started with. */
export async function start(token: string): Promise<void> {
  await Promise.all([connectWith(token), shared().catch(() => undefined)]);
  tools.unshift(TOOL);
  if (!isThere.value) {
    if (/token/.test(trouble.value)) {
      forgetToken();
    }
    return;
  }
  views.push(VIEW);
  if (new URLSearchParams(location.search).get("view") === VIEW.key) {
    view.value = VIEW.key;
  }
  const file = machine.value?.file;
  if (file) {
    notice.value = await takeOpened(file);
    if (view.value === "start") {
      view.value = "scenario";
    }
  }
}
