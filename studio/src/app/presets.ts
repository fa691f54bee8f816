/** The scenarios that come with lightlag, each with a sentence from the comment at its start. */

export interface Preset {
  name: string;
  /** Description: the first paragraph of the preset's comment. */
  says: string;
  toml: string;
}

/** The presets that are listed first, in this order: one of each kind. */
const FIRST = ["geo", "leo", "starlink-550", "swarm", "mars", "dumbbell", "lossy", "traffic", "satellite-iot"];

function rank(name: string): number {
  const at = FIRST.indexOf(name);
  return at < 0 ? FIRST.length : at;
}

const texts = import.meta.glob<string>("../../../scenarios/*.toml", { query: "?raw", import: "default", eager: true });

export const presets: Preset[] = Object.entries(texts)
  .map(([path, toml]) => ({ name: path.replace(/^.*\/(.*)\.toml$/, "$1"), says: sentence(toml), toml }))
  .sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));

/** Returns the first paragraph of the comment at the start of a scenario, without the prefix `Shows:`. */
export function sentence(toml: string): string {
  const lines: string[] = [];
  for (const line of toml.split("\n")) {
    const text = /^#\s?(.*)$/.exec(line)?.[1]?.trim();
    if (!text) {
      break;
    }
    lines.push(text);
  }
  const whole = lines.join(" ").replace(/^Shows:\s*/, "");
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}
