/** The machine that serves this page: whether it responds, and whether its engine is selected. */

import { batch, signal } from "@preact/signals";
import { check, fault } from "../app/checking.ts";
import { elsewhere } from "../app/state.ts";
import { Remote } from "../engine/remote.ts";
import { Api, ApiError, type Entry, type Machine } from "./api.ts";
import { Tasks } from "./tasks.ts";

/** Description of the server; undefined if it did not respond. */
export const machine = signal<Machine | undefined>(undefined);
/** Connection error between this page and the server. */
export const trouble = signal("");
/** Notice about the scenario that the server was started with. */
export const notice = signal("");
/** Whether the server responds. */
export const isThere = signal(false);
/** The open report. */
export const shown = signal<{ name: string; address: string } | undefined>(undefined);

let api = new Api("");
let tasks = new Tasks({ url: "", token: "" }, () => undefined);

/** Returns the requests to the server. */
export function server(): Api {
  return api;
}

/** Returns the tasks of the server. */
export function work(): Tasks {
  return tasks;
}

/** Connects to the server that the page came from. */
export async function connectWith(token: string): Promise<void> {
  api = new Api(token);
  tasks = new Tasks({ url: at("tasks"), token }, lost);
  await reconnect();
}

/** Reconnects after the server was unavailable. */
export async function reconnect(): Promise<void> {
  try {
    const about = await api.about();
    await tasks.connect();
    batch(() => {
      machine.value = about;
      isThere.value = true;
      trouble.value = "";
    });
  } catch (error) {
    batch(() => {
      isThere.value = false;
      trouble.value = said(error);
    });
  }
}

/** Selects the engine of this machine, or the page's own. */
export function runHere(isHere: boolean): void {
  if (isHere === (elsewhere.peek() !== undefined)) {
    return;
  }
  elsewhere.peek()?.door.close();
  const address = { url: at("door"), token: api.token };
  const cores = machine.peek()?.cores ?? 1;
  elsewhere.value = isHere ? { door: new Remote(address), address, cores } : undefined;
}

/** Opens the report of results. */
export async function openReport(entry: Pick<Entry, "place" | "name">): Promise<void> {
  shown.value = { name: entry.name, address: await api.report(entry.place) };
}

/** Describes an error as text. */
export function said(error: unknown): string {
  if (error instanceof ApiError && error.status === 0) {
    isThere.value = false;
  }
  return error instanceof Error ? error.message : String(error);
}

function lost(why: string): void {
  batch(() => {
    isThere.value = false;
    trouble.value = `${why}. The studio can still check and save the open scenario; views that were not opened yet need the server`;
    runHere(false);
    fault.value = undefined;
  });
  void check();
}

function at(path: string): string {
  const address = new URL(path, document.baseURI);
  address.protocol = "ws:";
  address.hash = "";
  address.search = "";
  return address.href;
}
