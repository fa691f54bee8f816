/** The machine from which this page came: whether it answers, and whether its engine is the one that runs. */

import { batch, signal } from "@preact/signals";
import { check, fault } from "../app/checking.ts";
import { elsewhere } from "../app/state.ts";
import { Remote } from "../engine/remote.ts";
import { Api, ApiError, type Entry, type Machine } from "./api.ts";
import { Tasks } from "./tasks.ts";

/** What the server said of itself; undefined where it gave no answer. */
export const machine = signal<Machine | undefined>(undefined);
/** What went wrong between this page and the server. */
export const trouble = signal("");
/** What is said of the scenario with which the server was started. */
export const notice = signal("");
/** Whether the server answers. */
export const isThere = signal(false);
/** A report that is open. */
export const shown = signal<{ name: string; address: string } | undefined>(undefined);

let api = new Api("");
let tasks = new Tasks({ url: "", token: "" }, () => undefined);

/** Requests to the server. */
export function server(): Api {
  return api;
}

/** Tasks of the server. */
export function work(): Tasks {
  return tasks;
}

/** Connects to the server from which the page came. */
export async function connectWith(token: string): Promise<void> {
  api = new Api(token);
  tasks = new Tasks({ url: at("tasks"), token }, lost);
  await reconnect();
}

/** Connects again, after the server was away. */
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

/** Runs on this machine, or in this page. */
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

/** An error in words. */
export function said(error: unknown): string {
  if (error instanceof ApiError && error.status === 0) {
    isThere.value = false;
  }
  return error instanceof Error ? error.message : String(error);
}

function lost(why: string): void {
  batch(() => {
    isThere.value = false;
    trouble.value = `${why}. The page still checks and saves what is open; views that were not open need the server`;
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
