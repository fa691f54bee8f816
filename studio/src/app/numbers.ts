/** Numbers as text, digit for digit as Python writes them: halves go to the even neighbour. */

/** With so many digits after the point. */
export function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  const exact = Math.abs(value) < 1e21 ? value.toFixed(100) : text;
  const point = exact.indexOf(".");
  // A half exactly: then the script's language goes away from zero.
  if (point >= 0 && /^50*$/.test(exact.slice(point + 1 + digits))) {
    const cut = digits > 0 ? exact.slice(0, point + 1 + digits) : exact.slice(0, point);
    if (Number(cut.at(-1)) % 2 === 0) {
      return cut;
    }
  }
  return text;
}

/** With commas between thousands. */
export function grouped(value: number, digits = 0): string {
  const [whole = "", part] = fixed(value, digits).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? text : `${text}.${part}`;
}

/** With so many significant digits, without zeros at the end; as a power of ten where it is large or small. */
export function general(value: number, digits: number): string {
  if (value === 0 || !Number.isFinite(value)) {
    return value === 0 ? "0" : Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  const [mantissa = "", power = "0"] = scientific(value, digits).split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= digits) {
    const size = Math.abs(exponent).toString().padStart(2, "0");
    return `${bare(mantissa)}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  return bare(fixed(Number(`${mantissa}e${power}`), Math.max(0, digits - 1 - exponent)));
}

/** Magnitude below which a number keeps its exponent. */
const SMALLEST = 1e-9;

/** With so many significant digits and no exponent; large ones as whole numbers. */
export function number(value: number, digits = 4): string {
  const text = general(value, digits);
  if (!text.includes("e") || Math.abs(value) < SMALLEST) {
    return text;
  }
  if (Math.abs(value) >= 1) {
    return grouped(value);
  }
  const [mantissa = "", power = "0"] = text.split("e");
  return fixed(Number(text), -Number(power) + mantissa.replace(/^-?\d\.?/, "").length);
}

/** Windows from this size on do not limit a sender: that of `congestion = "none"`. */
const UNLIMITED_SEGMENTS = 1e9;

/** A mean window in segments. */
export function windowOf(segments: number): string {
  return segments >= UNLIMITED_SEGMENTS ? "unlimited" : number(segments);
}

/** As a power of ten; halves go to the even neighbour. */
function scientific(value: number, digits: number): string {
  const text = value.toExponential(digits - 1);
  const [all = "", power = ""] = value.toExponential(100).split("e");
  const places = all.replace(/^-?\d\.?/, "");
  if (/^50*$/.test(places.slice(digits - 1))) {
    const cut = all.slice(0, all.length - places.length + digits - 1).replace(/\.$/, "");
    if (Number(cut.at(-1)) % 2 === 0) {
      return `${cut}e${power}`;
    }
  }
  return text;
}

function bare(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A share in percent. */
export function percent(share: number, digits = 0): string {
  return `${fixed(share * 100, digits)}%`;
}

const PREFIXES = ["", "k", "M", "G", "T"];

/** A power of 1000 that makes a number short, and its prefix. */
export function factorOf(value: number): [factor: number, prefix: string] {
  let at = 0;
  for (let left = Math.abs(value); left >= 999.95 && at + 1 < PREFIXES.length; left /= 1000) {
    at++;
  }
  return [1000 ** at, PREFIXES[at] ?? ""];
}

/** A value with a prefix and its unit: those of `like`, unless the value is below a thousandth of them. */
export function withUnit(value: number, unit: string, like = value): string {
  const [columnFactor, columnPrefix] = factorOf(like);
  const isSmall = value !== 0 && Math.abs(value) < columnFactor / 1000;
  const [factor, prefix] = isSmall ? factorOf(value) : [columnFactor, columnPrefix];
  return `${number(value / factor)} ${prefix}${unit}`;
}

/** A rate in bit/s for people. */
export function rate(bitsPerSecond: number): string {
  return withUnit(bitsPerSecond, "bit/s");
}

/** A size in bytes for people. */
export function size(bytes: number): string {
  return withUnit(bytes, "B");
}

/** Times from this length on are in seconds, shorter ones in milliseconds. */
const LONG_S = 10;

/** A time in milliseconds, from 10 s on in seconds. */
export function milliseconds(seconds: number): string {
  return Math.abs(seconds) < LONG_S ? `${number(seconds * 1e3)} ms` : `${number(seconds)} s`;
}

/** Parts with commas between them, and a word before the last. */
export function listed(parts: string[]): string {
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : (parts[0] ?? "");
}
