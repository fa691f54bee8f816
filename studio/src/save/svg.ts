/** Parts of figures in SVG. Every text is escaped. */

import { fitting } from "../app/fitting.ts";

/** Colours of Okabe and Ito (2008) for white paper, and lighter ones for a dark page, as on the screen. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1a1a1a", "#882255"];
const COLOURS_ON_DARK = ["#4aa8e0", "#f08a3c", "#2fc79a", "#df9dc2", "#f0b530", "#8fd0f5", "#e8eaed", "#d0679a"];
/** Width of a letter of a name in pixels. */
export const LETTER = 7;

/** Colours of a figure. */
export interface Ink {
  colours: string[];
  paper: string;
  ink: string;
  quiet: string;
  grid: string;
}

/** Returns the colours for white paper, or for a dark page. */
export function inkOf(isDark = false): Ink {
  return isDark
    ? { colours: COLOURS_ON_DARK, paper: "#15181c", ink: "#e6e8eb", quiet: "#a2aab4", grid: "#2c3239" }
    : { colours: COLOURS, paper: "#ffffff", ink: "#1a1a1a", quiet: "#575e68", grid: "#dcdcdc" };
}

/** Escapes text for XML. */
export function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow them
  const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export type Attributes = Record<string, string | number>;

export function element(name: string, attributes: Attributes, inside = ""): string {
  const all = Object.entries(attributes).map(([key, value]) => {
    return ` ${key}="${typeof value === "number" ? Number(value.toFixed(2)) : escaped(value)}"`;
  });
  return `<${name}${all.join("")}${inside ? `>${inside}</${name}>` : "/>"}`;
}

export function text(x: number, y: number, said: string, fill: string, more: Attributes = {}): string {
  return element("text", { x, y, fill, "font-size": 12, ...more }, escaped(said));
}

/** Renders a name in the given width: shortened with "…" if it is longer, with the complete name as its title. */
export function named(x: number, y: number, name: string, room: number, fill: string, more: Attributes = {}): string {
  const shown = fitting(name, room, (some) => LETTER * some.length);
  const whole = shown === name ? "" : element("title", {}, escaped(name));
  return element("text", { x, y, fill, "font-size": 12, ...more }, escaped(shown) + whole);
}

/** Renders a complete SVG of this size in pixels, or with this ratio as wide as the element around it. */
export function page(
  width: number,
  height: number,
  { paper }: Ink,
  title: string,
  parts: string[],
  fit: "fixed" | "fluid" = "fixed",
): string {
  const attributes = {
    xmlns: "http://www.w3.org/2000/svg",
    ...(fit === "fluid" ? { width: "100%" } : { width, height }),
    viewBox: `0 0 ${width} ${height}`,
    "font-family": "system-ui, 'Liberation Sans', Arial, sans-serif",
    role: "img",
  };
  const ground = element("rect", { width, height, fill: paper });
  return element("svg", attributes, `<title>${escaped(title)}</title>${ground}${parts.join("")}`);
}
