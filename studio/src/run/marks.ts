/** Additions to the lines of charts: bounds, losses, states. */

import type uPlot from "uplot";
import { fitting } from "../app/fitting.ts";
import { colour } from "../app/theme.ts";
import type { Figure } from "./figures.ts";

/** Shapes and colours of causes; a legend next to the chart explains each shape. */
const CAUSES: Record<string, { sign: string; says: string; colour: string }> = {
  queue: { sign: "▼", says: "the queue was full", colour: "s2" },
  aqm: { sign: "◆", says: "by the queue discipline", colour: "s4" },
  error: { sign: "✕", says: "an error on the link", colour: "s8" },
  outage: { sign: "✚", says: "an outage of the link", colour: "s6" },
  retry: { sign: "▲", says: "no acknowledgement over radio", colour: "s5" },
  lifetime: { sign: "■", says: "expired in the queue of the radio", colour: "s3" },
};
const OTHER = { sign: "●", colour: "s7" };

/** Returns the sign of a cause, its colour and its meaning. */
export function cause(name: string): { sign: string; says: string; colour: string } {
  return CAUSES[name] ?? { ...OTHER, says: name.replaceAll("_", " ") };
}

/** Colours of congestion states other than `open`. */
export const STATES: Record<string, string> = { recovery: "s5", loss: "s2" };

export function drawBounds(plot: uPlot, { bounds }: Figure): void {
  const { ctx, bbox } = plot;
  for (const { y } of bounds) {
    const at = plot.valToPos(y, "y", true);
    ctx.save();
    ctx.strokeStyle = colour("ink");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, at);
    ctx.lineTo(bbox.left + bbox.width, at);
    ctx.stroke();
    ctx.restore();
  }
}

/** Draws losses as signs above the chart. */
export function drawLosses(plot: uPlot, { losses, span }: Figure): void {
  if (!losses) {
    return;
  }
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.font = `${9 * devicePixelRatio}px ${colour("sans")}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "bottom";
  const looks = losses.causes.map((name) => {
    const { sign, colour: name_ } = cause(name);
    return { sign, ink: colour(name_) };
  });
  let last = Number.NEGATIVE_INFINITY;
  let lastCause = -1;
  for (let at = 0; at < losses.x.length; at++) {
    const time = losses.x[at] as number;
    const left = plot.valToPos(time, "x", true);
    const why = losses.cause[at] as number;
    const look = looks[why];
    if (!look || time < span.from_s || time > span.to_s || (why === lastCause && left - last < 2 * devicePixelRatio)) {
      continue;
    }
    ctx.fillStyle = look.ink;
    ctx.fillText(look.sign, left, bbox.top - devicePixelRatio);
    last = left;
    lastCause = why;
  }
  ctx.restore();
}

/** Height of a name above its row of states, in pixels. */
const NAME = 14;

/** Draws states as a row for each flow, below its name. */
export function drawStates(plot: uPlot, { states, span, now_s }: Figure, font: string): void {
  if (!states?.length) {
    return;
  }
  const { ctx, bbox } = plot;
  const all = bbox.height / states.length;
  const named = states.length > 1 ? NAME * devicePixelRatio : 0;
  const height = all - named;
  ctx.save();
  states.forEach(({ states: { from_s, state, names } }, row) => {
    const top = bbox.top + row * all + named;
    const inks = names.map((name) => (STATES[name] ? colour(STATES[name]) : colour("line")));
    for (let at = 0; at < from_s.length; at++) {
      const start = Math.max(from_s[at] as number, span.from_s);
      const end = Math.min(from_s[at + 1] ?? now_s, span.to_s);
      if (end < span.from_s || start > span.to_s) {
        continue;
      }
      const left = plot.valToPos(start, "x", true);
      const name = names[state[at] as number];
      const least = name === "open" ? 0 : devicePixelRatio;
      const width = Math.max(least, plot.valToPos(end, "x", true) - left);
      ctx.fillStyle = inks[state[at] as number] ?? "";
      // A repair after a timeout is higher than one of a reported loss, and open is a thin line.
      const share = name === "open" ? 0.16 : name === "recovery" ? 0.6 : 0.92;
      ctx.fillRect(left, top + (height * (1 - share)) / 2, width, height * share);
    }
  });
  if (named > 0) {
    ctx.fillStyle = colour("ink");
    ctx.font = font.replace("11px", `${11 * devicePixelRatio}px`);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    states.forEach(({ name }, row) => {
      const shown = fitting(name, bbox.width, (text) => ctx.measureText(text).width);
      ctx.fillText(shown, bbox.left, bbox.top + row * all + 0.55 * named);
    });
  }
  ctx.restore();
}
