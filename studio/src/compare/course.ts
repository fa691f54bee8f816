/** The comparison of this page: its variants as they run, and what has come out so far. */

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
import type { Asked, Checked, Problem } from "../engine/protocol.ts";
import { Remote } from "../engine/remote.ts";
import { Campaign, type Contestant, keyOf } from "./campaign.ts";
import { Comparison } from "./comparison.ts";
import { followed, keys, type Offer, offers } from "./offers.ts";

/** The most variants side by side. */
export const MOST = 6;
/** The most seeds. */
export const MOST_SEEDS = 200;
/** The most runs at a time. */
const WORKERS = 8;
/** How long variants rest before they are checked, in milliseconds. */
const REST = 150;

export const campaign = new Campaign(() => {
  const native = elsewhere.peek();
  return native
    ? new Pool(Array.from({ length: Math.min(WORKERS, native.cores) }, () => new Remote(native.address)))
    : pool(Math.min(WORKERS, navigator.hardwareConcurrency || 2));
});

// Runs go on with the engine that is chosen now, which need not be there for ever.
effect(() => {
  void elsewhere.value;
  if (campaign.isRunning.peek()) {
    void run();
  }
});

/** The engine's word on each variant. */
const words = signal<ReadonlyMap<string, Checked>>(new Map());
const schema = signal<unknown>(undefined);

/** A variant as the page shows it. */
export interface Entry extends Contestant {
  variant: Variant;
  problems: Problem[];
}

/** The variants with names of their own. */
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
      asked: own,
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

/** What has come out so far. */
export const comparison = computed(
  () =>
    new Comparison(
      entries.value.map(({ name, asked, isRandom }) => ({
        name,
        isRandom,
        outcomes: campaign.of(asked, isRandom ? seedList.value : seedList.value.slice(0, 1)),
      })),
    ),
);

/** The seed that was chosen for charts of one run. */
export const chosenSeed = signal<number | undefined>(undefined);

/** The seeds of which some variant has a run. */
export const doneSeeds = computed(() => {
  const done = new Set(comparison.value.contenders.flatMap(({ outcomes }) => outcomes.map(({ seed }) => seed)));
  return seedList.value.filter((seed) => done.has(seed));
});

/** The seed of which charts over time show the runs. */
export const shownSeed = computed(() => {
  const { value: all } = doneSeeds;
  const { value: chosen } = chosenSeed;
  return chosen !== undefined && all.includes(chosen) ? chosen : (all[0] ?? firstSeed.value);
});

/** Runs that have finished, and all of this comparison. */
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

export function scenarioOf({ sets }: Variant): Asked {
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

export function remove(at: number): void {
  variants.value = variants.peek().filter((_, index) => index !== at);
}

export function replace(at: number, variant: Variant): void {
  variants.value = variants.peek().map((other, index) => (index === at ? variant : other));
}

/** The offers for the scenario of which the variants were made. */
let before: Offer[] = [];

/** Lets the variants follow the scenario: those that were made of an offer name the keys of the flows and links there are now. */
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

/** Keeps the engine's word on the variants, for as long as the view is open. */
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

async function check(all: Asked[]): Promise<void> {
  const known = words.peek();
  const found = new Map<string, Checked>();
  for (const one of all) {
    const key = keyOf(one);
    try {
      found.set(key, known.get(key) ?? (await door().ask({ op: "check", ...one })));
    } catch {
      // The page says elsewhere that its engine does not answer; the variant is checked again at its next change.
    }
  }
  words.value = found;
}

/** A first comparison: algorithms that differ much over long paths. */
export function start(): void {
  const congestion = offered.peek().find(({ key }) => key === "congestion");
  if (congestion && variants.peek().length === 0) {
    variants.value = ["newreno", "cubic", "hybla", "bbr"].map((name) => ({ name, sets: congestion.sets(name) }));
  }
}
