/** Quantities as text, and on sliders with a logarithmic scale. */

export interface Scale {
  /** Lowest and highest value of the slider, in the first unit. */
  least: number;
  most: number;
  /** Whether the left end is zero. */
  hasZero: boolean;
  units: [name: string, factor: number][];
  /** Whether the value has no unit. */
  isPlain?: boolean;
  isWhole?: boolean;
}

const RATE: Scale = {
  least: 1e3,
  most: 1e11,
  hasZero: false,
  units: [
    ["bit/s", 1],
    ["kbit/s", 1e3],
    ["Mbit/s", 1e6],
    ["Gbit/s", 1e9],
  ],
};

const DELAY: Scale = {
  least: 1e-5,
  most: 1e4,
  hasZero: true,
  units: [
    ["ns", 1e-9],
    ["us", 1e-6],
    ["ms", 1e-3],
    ["s", 1],
    ["min", 60],
    ["h", 3600],
  ],
};

const PACKETS: Scale = { least: 1, most: 1e5, hasZero: false, isWhole: true, units: [["packets", 1]] };
const PRODUCTS: Scale = { least: 0.05, most: 10, hasZero: false, units: [["bdp", 1]] };
const BYTES: Scale = {
  least: 1e3,
  most: 1e9,
  hasZero: false,
  units: [
    ["B", 1],
    ["kB", 1e3],
    ["MB", 1e6],
    ["GB", 1e9],
  ],
};
const LOSS: Scale = { least: 1e-7, most: 0.5, hasZero: true, units: [], isPlain: true };

const QUANTITY = /^\s*([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*([A-Za-z/]+)\s*$/;

/** Returns the scale of the slider next to a value, if there is one: by the name of its type and its current value. */
export function scaleOf(type: string, value: unknown): Scale | undefined {
  switch (type) {
    case "Rate":
      return RATE;
    case "Duration":
      return DELAY;
    case "Probability":
      return LOSS;
    case "QueueLimit": {
      const unit = QUANTITY.exec(String(value))?.[2];
      return unit === "bdp" ? PRODUCTS : unit?.startsWith("packet") || unit === undefined ? PACKETS : BYTES;
    }
    default:
      return undefined;
  }
}

/** Returns the amount of a text such as "20 Mbit/s" in the first unit of a scale, or undefined. */
export function amount(scale: Scale, value: unknown): number | undefined {
  if (scale.isPlain) {
    return typeof value === "number" ? value : undefined;
  }
  const [, number, unit] = QUANTITY.exec(String(value)) ?? [];
  const factor = scale.units.find(([name]) => name === unit || `${unit}s` === name)?.[1];
  const parsed = Number(number);
  return factor === undefined || Number.isNaN(parsed) ? undefined : parsed * factor;
}

/** Formats an amount in a suitable unit, with two significant digits. */
export function inUnits(scale: Scale, quantity: number): string | number {
  const rounded = Number((scale.isWhole ? Math.round(quantity) : quantity).toPrecision(2));
  if (scale.isPlain) {
    return rounded;
  }
  const fitting = [...scale.units].reverse().find(([, factor]) => rounded >= factor * 0.999) ?? scale.units[0];
  const [name, factor] = fitting ?? ["", 1];
  if (rounded === 0) {
    return scale.units === DELAY.units ? "0 s" : `0 ${name}`;
  }
  const number = Number((rounded / factor).toPrecision(scale.units === DELAY.units ? 3 : 2));
  return `${number} ${name}`;
}

/** Number of steps of a slider. */
export const STEPS = 200;

/** Returns the slider position of an amount. */
export function position(scale: Scale, quantity: number): number {
  if (quantity <= 0) {
    return 0;
  }
  const share = Math.log(quantity / scale.least) / Math.log(scale.most / scale.least);
  return Math.round(Math.min(1, Math.max(scale.hasZero ? 1 / STEPS : 0, share)) * STEPS);
}

/** Returns the amount at a slider position. */
export function quantity(scale: Scale, step: number): number {
  return scale.hasZero && step <= 0 ? 0 : scale.least * (scale.most / scale.least) ** (step / STEPS);
}

/**
 * Returns the value at a slider position; if it equals the value at the previous position, the next one that
 * differs.
 */
export function turned(scale: Scale, before: unknown, step: number): string | number {
  const now = amount(scale, before);
  const direction = now === undefined || step >= position(scale, now) ? 1 : -1;
  let value = inUnits(scale, quantity(scale, step));
  for (let next = step + direction; value === before && next >= 0 && next <= STEPS; next += direction) {
    value = inUnits(scale, quantity(scale, next));
  }
  return value;
}
