/** Paths within a scenario. */

export type Step = string | number;
export type Path = Step[];

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Returns the value at a step within a value. */
export function inside(value: unknown, step: Step): unknown {
  if (typeof step === "number") {
    return Array.isArray(value) ? value[step] : undefined;
  }
  return isTable(value) ? value[step] : undefined;
}

/** Formats a path as the engine does: `links[0].rate`. */
export function written(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") {
        return `[${step}]`;
      }
      const key = /^[A-Za-z0-9_-]+$/.test(step) ? step : `"${step}"`;
      return index === 0 ? key : `.${key}`;
    })
    .join("");
}
