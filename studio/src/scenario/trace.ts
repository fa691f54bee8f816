/** Files that come with a scenario, and traces of links among them. */

/** Why a text is no trace of a link, as far as its first line tells. */
export function faultOfTrace(text: string): string | undefined {
  const first = text.split(/\r?\n/).find((line) => line.trim() !== "" && !line.startsWith("#")) ?? "";
  const names = first.split(",").map((name) => name.trim().replace(/^"|"$/g, ""));
  const known = ["rate_bps", "delay_s", "loss"];
  if (names.includes("time_s") && names.some((name) => known.includes(name))) {
    return undefined;
  }
  return `its first line is ${JSON.stringify(first.slice(0, 60))}; a trace has the columns time_s and any of ${known.join(", ")}`;
}

export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

/** The name under which a text asks for a file, if it does: the last part of the path is the file's. */
export function askedName(toml: string, file: string): string | undefined {
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`["']((?:[^"'\\n]*/)?${escaped})["']`).exec(toml)?.[1];
}
