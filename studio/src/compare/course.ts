/** The comparison of this page: its variants and results so far. */

import { computed, effect, signal } from "@preact/signals";
import {
  about,
  checked,
  door,
  elsewhere,
  files,
  isSound,
  seed,
  seeds,
  toml,
  type Variant,
  variants,
} from "../app/state.ts";
import { pool, schemaOfScenarios } from "../engine/here.ts";
import { Pool } from "../engine/pool.ts";
import type { Checked, Problem, ScenarioInput } from "../engine/protocol.ts";
import { Remote } from "../engine/remote.ts";
import { Campaign, type Contestant, keyOf } from "./campaign.ts";
import { Comparison } from "./comparison.ts";
import { followed, keys, type Offer, offers } from "./offers.ts";

/** Maximum number of variants. */
export const MOST = 6;
/** Maximum number of seeds. */
export const MOST_SEEDS = 200;
/** Maximum number of simultaneous runs. */
const WORKERS = 8;
/** Delay in milliseconds between a change of variants and their check. */
const REST = 150;

export const campaign = new Campaign(() => {
  const native = elsewhere.peek();
  return native
    ? new Pool(Array.from({ length: Math.min(WORKERS, native.cores) }, () => new Remote(native.address)))
    : pool(Math.min(WORKERS, navigator.hardwareConcurrency || 2));
});

// Runs continue with the engine that is selected now, which may disappear later.
effect(() => {
  void elsewhere.value;
  if (campaign.isRunning.peek()) {
    void run();
  }
});

/** The engine's check of each variant. */
const words = signal<ReadonlyMap<string, Checked>>(new Map());
const schema = signal<unknown>(undefined);

/** A variant as the page shows it. */
export interface Entry extends Contestant {
  variant: Variant;
  problems: Problem[];
}

/** The variants, each with a unique name. */
export const entries = computed((): Entry[] => {
  const names = new Map<string, number>();
  return variants.value.map((variant, at) => {
    const given = variant.name.trim() || `variant ${at + 1}`;
    const count = (names.get(given) ?? 0) + 1;
    names.set(given, count);
    const own = scenarioOf(variant);
    const word = words.value.get(keyOf(own));
    return {
      variant,
      name: count > 1 ? `${given} (${count})` : given,
      input: own,
      isRandom: word?.is_random ?? true,
      problems: word?.errors ?? [],
    };
  });
});

export const isFixed = computed(() => entries.value.length > 0 && entries.value.every(({ isRandom }) => !isRandom));

export const firstSeed = computed(() => {
  const own = checked.value?.scenario?.seed;
  return seed.value ?? (typeof own === "number" ? own : 1);
});

export const seedList = computed(() => Array.from({ length: seeds.value }, (_, at) => firstSeed.value + at));

/** Results so far. */
export const comparison = computed(
  () =>
    new Comparison(
      entries.value.map(({ name, input, isRandom }) => ({
        name,
        isRandom,
        outcomes: campaign.of(input, isRandom ? seedList.value : seedList.value.slice(0, 1)),
      })),
    ),
);

/** Selected seed for charts of one run. */
export const chosenSeed = signal<number | undefined>(undefined);

/** Seeds with which a run of some variant has finished. */
export const doneSeeds = computed(() => {
  const done = new Set(comparison.value.contenders.flatMap(({ outcomes }) => outcomes.map(({ seed }) => seed)));
  return seedList.value.filter((seed) => done.has(seed));
});

/** Seed of the runs in charts over time. */
export const shownSeed = computed(() => {
  const { value: all } = doneSeeds;
  const { value: chosen } = chosenSeed;
  return chosen !== undefined && all.includes(chosen) ? chosen : (all[0] ?? firstSeed.value);
});

/** Number of finished runs and of all runs of this comparison. */
export const progress = computed(() => ({
  done: comparison.value.contenders.reduce((sum, { outcomes }) => sum + outcomes.length, 0),
  all: entries.value.reduce((sum, { isRandom }) => sum + (isRandom ? seeds.value : 1), 0),
}));

export const canRun = computed(
  () => isSound.value && entries.value.length > 0 && entries.value.every(({ problems }) => problems.length === 0),
);

export const offered = computed((): Offer[] => {
  const scenario = checked.value?.scenario;
  return scenario && about.value && schema.value ? offers(scenario, about.value, schema.value) : [];
});

export const offeredKeys = computed(() => {
  const scenario = checked.value?.scenario;
  return scenario && schema.value ? keys(scenario, schema.value) : [];
});

export function scenarioOf({ sets }: Variant): ScenarioInput {
  return { toml: toml.value, files: files.value, sets };
}

export function run(): Promise<void> {
  campaign.keep(toml.peek());
  return campaign.run(entries.peek(), seedList.peek());
}

export function add(variant: Variant): void {
  if (variants.peek().length < MOST) {
    variants.value = [...variants.peek(), variant];
  }
}

export function remove(index: number): void {
  variants.value = variants.peek().filter((_, other) => other !== index);
}

export function replace(index: number, variant: Variant): void {
  variants.value = variants.peek().map((old, other) => (other === index ? variant : old));
}

/** Predefined changes for the scenario that the variants were made for. */
let before: Offer[] = [];

/** Updates the variants after a change of the scenario: the keys of predefined changes name its flows and links. */
function follow(): void {
  const after = offered.value;
  if (after.length > 0) {
    const all = variants.peek();
    const next = followed(all, before, after);
    before = after;
    if (next.some((variant, at) => variant !== all[at])) {
      variants.value = next;
    }
  }
}

/** Checks the variants while the view is open. */
export function watch(): () => void {
  void schemaOfScenarios().then((found) => {
    schema.value = found;
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = effect(() => {
    const all = variants.value.map(scenarioOf);
    clearTimeout(timer);
    timer = setTimeout(() => void check(all), REST);
  });
  const endFollowing = effect(follow);
  return () => {
    clearTimeout(timer);
    end();
    endFollowing();
  };
}

async function check(all: ScenarioInput[]): Promise<void> {
  const known = words.peek();
  const found = new Map<string, Checked>();
  for (const one of all) {
    const key = keyOf(one);
    try {
      found.set(key, known.get(key) ?? (await door().ask({ op: "check", ...one })));
    } catch {
      // The page reports an unreachable engine elsewhere; the variant is checked again at its next change.
    }
  }
  words.value = found;
}

/** Creates an initial comparison, of algorithms whose results differ a lot on paths with long delays. */
export function start(): void {
  const congestion = offered.peek().find(({ key }) => key === "congestion");
  if (congestion && variants.peek().length === 0) {
    variants.value = ["newreno", "cubic", "hybla", "bbr"].map((name) => ({ name, sets: congestion.sets(name) }));
  }
}
