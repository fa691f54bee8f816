/** Predefined changes: common comparisons, as variants of the current scenario. */

import type { Variant } from "../app/state.ts";
import type { About, Scenario } from "../engine/protocol.ts";

export type Sets = Variant["sets"];

/** A kind of change with the values that it offers. */
export interface Offer {
  key: string;
  name: string;
  values: string[];
  /** Returns the changes for a value. */
  sets: (value: string) => Sets;
}

type Part = Record<string, unknown>;

export function offers(scenario: Scenario, about: About, schema: unknown): Offer[] {
  return [
    {
      key: "congestion",
      name: "Congestion control of all flows",
      values: about.congestion.map(({ name }) => name),
      sets: (value) => congestion(scenario, value),
    },
    {
      key: "discipline",
      name: "Queue discipline of all links",
      values: disciplines(schema),
      sets: (value) => queues(scenario, (limit) => `{ discipline = "${value}", limit = ${JSON.stringify(limit)} }`),
    },
    {
      key: "queue",
      name: "Queue size of all links",
      values: ["0.1 bdp", "0.25 bdp", "0.5 bdp", "1 bdp", "2 bdp", "4 bdp"],
      sets: (value) => queues(scenario, () => JSON.stringify(value)),
    },
    {
      key: "profile",
      name: "Profile of connections",
      values: about.profiles.map(([name]) => name),
      sets: (value) => [["defaults.tcp.profile", value]],
    },
    {
      key: "recovery",
      name: "Loss recovery",
      values: words(schema, "Scheme"),
      sets: (value) => [["defaults.tcp.recovery", value]],
    },
    {
      key: "buffer",
      name: "Receive buffer",
      values: ["64 kB", "256 kB", "1 MB", "4 MB", "16 MB"],
      sets: (value) => [["defaults.tcp.receive_buffer", JSON.stringify(value)]],
    },
  ];
}

/**
 * Returns the variants with their predefined changes adapted to a changed scenario, whose flows and links determine the
 * keys.
 */
export function followed(variants: Variant[], before: Offer[], after: Offer[]): Variant[] {
  return variants.map((variant) => {
    const sets = variant.sets.length > 0 ? same(variant.sets, before, after) : undefined;
    return sets && JSON.stringify(sets) !== JSON.stringify(variant.sets) ? { ...variant, sets } : variant;
  });
}

/** Returns the same predefined change for the changed scenario; undefined if `sets` is not a predefined change. */
function same(sets: Sets, before: Offer[], after: Offer[]): Sets | undefined {
  const text = JSON.stringify(sets);
  for (const offer of before) {
    const value = offer.values.find((each) => JSON.stringify(offer.sets(each)) === text);
    if (value !== undefined) {
      const now = after.find(({ key }) => key === offer.key)?.sets(value);
      return now && now.length > 0 ? now : undefined;
    }
  }
  return undefined;
}

/**
 * Returns the changes that set the algorithm of all flows: the default, and the setting of each flow that has its own.
 */
function congestion(scenario: Scenario, name: string): Sets {
  const defaults = scenario.defaults as { congestion?: unknown[]; tcp?: Part } | undefined;
  const isInTurn = (defaults?.congestion?.length ?? 0) > 0;
  const shared: Sets = isInTurn ? [["defaults.congestion", `[${name}]`]] : [["defaults.tcp.congestion", name]];
  const own = parts(scenario.flows).flatMap(
    (flow, at): Sets => (hasOwn(flow) ? [[`flows.${at}.congestion`, name]] : []),
  );
  return [...shared, ...own];
}

function hasOwn(flow: Part): boolean {
  const tcp = flow.tcp as Part | undefined;
  return flow.congestion !== undefined || tcp?.congestion !== undefined;
}

/** Returns changes of the queues of all links, or of a generated network. */
function queues(scenario: Scenario, queue: (limit: string) => string): Sets {
  const links = parts(scenario.links).map((link, at): [string, string] => [`links.${at}.queue`, queue(limitOf(link))]);
  const topology = scenario.topology as Part | undefined;
  return topology && "queue" in topology ? [["topology.queue", queue(limitOf(topology))], ...links] : links;
}

/** Returns the limit of a queue, which it keeps when its discipline changes. */
function limitOf({ queue }: Part): string {
  const limit = typeof queue === "object" && queue !== null ? (queue as Part).limit : queue;
  return typeof limit === "string" ? limit : "1000 packets";
}

function parts(list: unknown): Part[] {
  return Array.isArray(list) ? (list as Part[]) : [];
}

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  const?: unknown;
  enum?: unknown[];
  type?: unknown;
}

/** Returns the disciplines that need only a limit. */
function disciplines(schema: unknown): string[] {
  const queue = (schema as Schema).$defs?.Queue;
  return (queue?.anyOf ?? []).flatMap(({ properties }) => {
    const name = properties?.discipline?.const;
    return typeof name === "string" && properties?.limit ? [name] : [];
  });
}

function words(schema: unknown, name: string): string[] {
  const found = (schema as Schema).$defs?.[name];
  const each = found?.oneOf?.map((one) => one.const) ?? found?.enum ?? [];
  return each.filter((word) => typeof word === "string");
}

/** Returns the keys of the scenario that a change may name: keys of its sections, and of its links and flows. */
export function keys(scenario: Scenario, schema: unknown): string[] {
  const root = schema as Schema;
  const found = new Set<string>();
  walk(root, root, scenario, "", 0, found);
  return [...found];
}

const DEEP = 4;

function walk(root: Schema, schema: Schema, value: unknown, path: string, depth: number, found: Set<string>): void {
  const tables = forms(root, schema).filter(({ properties }) => properties);
  if (Array.isArray(value)) {
    for (const [at, entry] of value.slice(0, 20).entries()) {
      const items = forms(root, schema).map((form) => (form as { items?: Schema }).items);
      const item = items.find((one) => one !== undefined);
      if (item && typeof entry === "object") {
        walk(root, item, entry, `${path}.${at}`, depth + 1, found);
      }
    }
    return;
  }
  const isOpen = depth === 0 || path === "defaults" || path === "defaults.tcp" || typeof value === "object";
  if (tables.length === 0 || !isOpen || depth >= DEEP) {
    if (path) {
      found.add(path);
    }
    return;
  }
  for (const table of tables) {
    for (const [key, inner] of Object.entries(table.properties ?? {})) {
      walk(root, inner, (value as Part | undefined)?.[key], path ? `${path}.${key}` : key, depth + 1, found);
    }
  }
}

/** Returns the alternatives of a schema (`anyOf`, `oneOf`), with references resolved. */
function forms(root: Schema, schema: Schema): Schema[] {
  if (schema.$ref) {
    const target = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return target ? forms(root, target) : [];
  }
  return (schema.anyOf ?? schema.oneOf)?.flatMap((form) => forms(root, form)) ?? [schema];
}
