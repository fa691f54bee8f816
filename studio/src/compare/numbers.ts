/** Numbers as Python sums and writes them, so that the page and the command line say the same to the last digit. */

/** The exact sum of numbers, rounded once (Shewchuk 1997). */
export function exactSum(values: Iterable<number>): number {
  const parts: number[] = [];
  for (const value of values) {
    let x = value;
    let kept = 0;
    for (const part of parts) {
      const [large, small] = Math.abs(x) < Math.abs(part) ? [part, x] : [x, part];
      const high = large + small;
      const low = small - (high - large);
      if (low !== 0) {
        parts[kept++] = low;
      }
      x = high;
    }
    parts.length = kept;
    parts.push(x);
  }
  return rounded(parts);
}

/** The sum of parts that do not overlap, the smallest first. */
function rounded(parts: number[]): number {
  let at = parts.length - 1;
  let high = parts[at] ?? 0;
  let low = 0;
  while (at > 0) {
    const x = high;
    const y = parts[--at] ?? 0;
    high = x + y;
    low = y - (high - x);
    if (low !== 0) {
      break;
    }
  }
  // Half way between two numbers, what is left decides.
  const below = parts[at - 1] ?? 0;
  if (at > 0 && ((low < 0 && below < 0) || (low > 0 && below > 0))) {
    const twice = low * 2;
    const next = high + twice;
    if (twice === next - high) {
      return next;
    }
  }
  return high;
}

export function mean(values: readonly number[]): number {
  return exactSum(values) / values.length;
}

/** A number with so many decimals; one that lies half way goes to the even digit. */
export function fixed(value: number, digits: number): string {
  const usual = value.toFixed(digits);
  if (!isHalfWay(value, digits) || !Number.isFinite(value)) {
    return usual;
  }
  const cut = value.toFixed(100).slice(0, digits > 0 ? digits - 100 : -101);
  return Number(cut.at(-1)) % 2 === 0 ? cut : usual;
}

function isHalfWay(value: number, digits: number): boolean {
  return /^50*$/.test(
    Math.abs(value)
      .toFixed(100)
      .replace(/^\d*\./, "")
      .slice(digits),
  );
}

/** A number with so many significant digits, without zeros at its end; very large and small ones with an exponent. */
export function general(value: number, digits: number): string {
  if (value === 0) {
    return "0";
  }
  const [whole, exponent] = significant(value, digits);
  if (exponent < -4 || exponent >= digits) {
    const sign = exponent < 0 ? "-" : "+";
    return `${trimmed(whole)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  return trimmed(Number(`${whole}e${exponent}`).toFixed(Math.max(digits - 1 - exponent, 0)));
}

/** The first digits as 1.23, and the power of ten. */
function significant(value: number, digits: number): [string, number] {
  const [usual = "0", exponent = "0"] = value.toExponential(digits - 1).split("e");
  const [long = "0", power = "0"] = value.toExponential(100).split("e");
  const end = long.indexOf(".") + digits;
  if (digits > 1 && /^50*$/.test(long.slice(end)) && Number(long[end - 1]) % 2 === 0) {
    return [long.slice(0, end), Number(power)];
  }
  return [usual, Number(exponent)];
}

function trimmed(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A whole number with commas between its thousands. */
export function counted(value: number): string {
  return value.toLocaleString("en-US");
}

/** A number below 1000 and its decimal prefix. */
export function scaled(value: number): [number, string] {
  let rest = value;
  let at = 0;
  while (Math.abs(rest) >= 999.95 && at < 4) {
    rest /= 1000;
    at++;
  }
  return [rest, " kMGT"[at]?.trim() ?? ""];
}

/** The power of 1000 of the prefix that a value takes, and the prefix. */
export function factorOf(value: number): [number, string] {
  const [, prefix] = scaled(value);
  return [1000 ** " kMGT".indexOf(prefix || " "), prefix];
}
