/** Files of a scenario, including traces of links. */

/** Returns the reason why a text is not a trace of a link, from its first line. */
export function faultOfTrace(text: string): string | undefined {
  const first = text.split(/\r?\n/).find((line) => line.trim() !== "" && !line.startsWith("#")) ?? "";
  const names = first.split(",").map((name) => name.trim().replace(/^"|"$/g, ""));
  const known = ["rate_bps", "delay_s", "loss"];
  if (names.includes("time_s") && names.some((name) => known.includes(name))) {
    return undefined;
  }
  return `its first line is ${JSON.stringify(first.slice(0, 60))}; a trace has the columns time_s and any of ${known.join(", ")}`;
}

/**
 * Returns the path under which a scenario refers to a file, if it does: the last part of the path is the file's name.
 */
export function askedName(toml: string, file: string): string | undefined {
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`["']((?:[^"'\\n]*/)?${escaped})["']`).exec(toml)?.[1];
}
