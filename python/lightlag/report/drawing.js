// Elements, colours, dash patterns and ticks of charts. Text stays text, and nothing is loaded.
const DASHES = ["", "9 3", "2 2.5", "10 3 2 3", "5 2.5", "10 3 2 3 2 3", "14 4", "6 2 2 2"];
const STATES = { open: "var(--c2)", recovery: "var(--c4)", loss: "var(--c1)" };
const SPACE = { top: 26, bottom: 36, left: 52, right: 12 };
const groups = new Map(),
  all = [],
  holder = document.createElement("div");
holder.innerHTML = "<svg/>";
const PAPER = 640;
let paper = false;
const SVG = holder.firstChild.namespaceURI;

const make = (name, values, ...inside) => {
  const one = document.createElementNS(SVG, name);
  for (const key in values) one.setAttribute(key, values[key]);
  one.append(...inside);
  return one;
};
const html = (name, values, ...inside) => {
  const one = document.createElement(name);
  for (const key in values) one.setAttribute(key, values[key]);
  one.append(...inside);
  return one;
};
const colour = (at) => `var(--c${at % 8})`;
const dash = (at) => DASHES[((at % 8) + Math.floor(at / 8)) % 8];
// A number as a person writes it: 1.5×10⁶.
const power = (value) => {
  const [factor, exponent] = value.toExponential(2).split("e");
  const high = [...exponent.replace("+", "")].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");
  const short = String(Number(factor));
  return `${short === "1" ? "" : short === "-1" ? "-" : `${short}×`}10${high}`;
};
const shown = (value, digits = 4) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return power(value);
  return size >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(digits)));
};

// About the given number of round steps, at 1, 2 or 5 times a power of ten.
const ticks = (low, high, wanted) => {
  const raw = (high - low) / Math.max(wanted, 1),
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw * (1 - 1e-9));
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++)
    found.push(Number((at * step).toPrecision(12)));
  return found;
};
const powers = (low, high) => {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.001; power++)
    for (const each of high / low < 100 ? [1, 2, 5] : [1]) {
      const value = Number((each * 10 ** power).toPrecision(3));
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  return found;
};

// Equal steps are stored as start and step.
const unfold = (series) => {
  if (!Array.isArray(series.x)) series.x = series.y.map((_, at) => series.x.from + at * series.x.by);
};
const nearest = (xs, x) => {
  let low = 0,
    high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  return high >= 0 && Math.abs(xs[high] - x) < Math.abs(xs[low] - x) ? high : low;
};
