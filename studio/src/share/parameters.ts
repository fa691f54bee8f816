/** Parameters of an embedded run: from its address, or from the attributes of its element. */

/** The query of `embed.html`. */
export interface Wish {
  /** Name of a preset; none if the fragment holds the scenario. */
  scenario?: string;
  sets: [path: string, value: string][];
  seed?: number;
  /** Whether it runs immediately. */
  isAtOnce: boolean;
}

/** Parses changes such as `links.1.loss=1e-3; defaults.tcp.congestion=bbr`. */
export function setsOf(text: string): [path: string, value: string][] {
  return text
    .split(/[;\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [part, ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    });
}

export function wishOf(query: string): Wish {
  const given = new URLSearchParams(query);
  const [scenario, seed] = [given.get("scenario"), given.get("seed")];
  const wish: Wish = { sets: setsOf(given.get("sets") ?? ""), isAtOnce: given.has("autorun") };
  if (scenario) {
    wish.scenario = scenario;
  }
  if (seed && /^\d{1,15}$/.test(seed)) {
    wish.seed = Number(seed);
  }
  return wish;
}

export function queryOf({ scenario, sets, seed, isAtOnce }: Wish): string {
  const query = new URLSearchParams();
  if (scenario) {
    query.set("scenario", scenario);
  }
  if (sets.length > 0) {
    query.set("sets", sets.map(([path, value]) => `${path}=${value}`).join("; "));
  }
  if (seed !== undefined) {
    query.set("seed", String(seed));
  }
  if (isAtOnce) {
    query.set("autorun", "");
  }
  return query.toString();
}
