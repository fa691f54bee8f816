import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawn, drawnIntervals, type Figure, roundEnds, thinned, ticks } from "./figure.ts";

const figure: Figure = {
  title: 'cwnd <of> "a&b"',
  unit: "segments",
  xTitle: "time (s)",
  lines: [
    { name: "a->b", x: [0, 1, 2, 3], y: [1, Number.NaN, 4, 2], looks: "step" },
    { name: "c", x: [0, 3], y: [0, 3] },
    { name: "lost", x: [1], y: [2], looks: "dots" },
  ],
};

describe("figures", () => {
  test("have text as text, dash patterns in addition to colours, and no styles", () => {
    const svg = drawn(figure);
    expect(svg).toContain("cwnd &lt;of&gt; &quot;a&amp;b&quot; (segments)</text>");
    expect(svg).toContain(">time (s)</text>");
    expect(svg).toContain(">a-&gt;b</text>");
    expect(svg).toMatch(/<path d="M[^"]*M[^"]*H[^"]*V[^"]*" fill="none" stroke="#0072b2"/);
    expect(svg).toMatch(/stroke="#d55e00"[^>]*stroke-dasharray="6 2"/);
    expect(svg).not.toMatch(/NaN|style=|<style|undefined/);
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*<\/svg>$/s);
  });

  test("with intervals show each mean, its ends and its runs", () => {
    const rows = [
      { name: "cubic", mean: 2, halfWidth: 0.5, values: [1.8, 2.2] },
      { name: "bbr", mean: 3, halfWidth: Number.NaN, values: [3] },
    ];
    const svg = drawnIntervals({ title: "Goodput", unit: "Mbit/s", rows });
    expect(svg.match(/<circle/g)).toHaveLength(4);
    expect(svg.match(/<path/g)).toHaveLength(1);
    expect(svg).not.toContain("NaN");
  });

  test("are rendered for any numbers", () => {
    const numbers = fc.array(fc.double({ min: -1e12, max: 1e12 }), { maxLength: 40 });
    fc.assert(
      fc.property(
        numbers,
        fc.string(),
        fc.constantFrom("step" as const, "dots" as const, "line" as const),
        (y, name, looks) => {
          const x = y.map((_, at) => at);
          const svg = drawn({ title: name, unit: name, xTitle: name, lines: [{ name, x, y, looks }] });
          expect(svg).not.toMatch(/NaN|undefined/);
        },
      ),
    );
  });

  test("retain minimum and maximum of the values on one pixel", () => {
    const x = Array.from({ length: 10_000 }, (_, at) => at);
    const y = x.map((at) => (at === 5003 ? 99 : at === 5007 ? -99 : at % 7));
    const kept = thinned(x, y, (value) => value / 100);
    expect(kept.length).toBeLessThanOrEqual(404);
    expect(kept).toContainEqual([5003, 99]);
    expect(kept).toContainEqual([5007, -99]);
  });

  test("round ends enclose the values", () => {
    expect(roundEnds(38, 180, 4)).toEqual([0, 200]);
    expect(roundEnds(76.02, 76.58, 4)).toEqual([76, 76.60000000000001]);
    expect(roundEnds(5, 5, 4)).toEqual([5, 5.5]);
  });

  test("an axis may start above 0, without names above it", () => {
    const lines = [
      { name: "a", x: [0, 1], y: [60, 80] },
      { name: "b", x: [0, 1], y: [70, 90] },
    ];
    const figure = { title: "t", unit: "ms", xTitle: "time (s)", lines, bottom: 60, top: 100 };
    const svg = drawn(figure, { hasLegend: false });
    expect(svg).toContain(">60</text>");
    expect(svg).not.toContain(">20</text>");
    expect(svg).not.toContain(">a</text>");
    expect(drawn(figure)).toContain(">a</text>");
  });

  test("ticks are round and inside the axis", () => {
    expect(ticks(0, 10, 5)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticks(0.13, 0.31, 4)).toEqual([0.15, 0.2, 0.25, 0.3]);
    expect(ticks(0, Number.MIN_VALUE, 4)).toEqual([0]);
  });
});

test("a name that is too long is shortened, and complete in the title", () => {
  const name = "a-very-long-name-of-a-flow-over-two-satellites-and-a-gateway-far-away";
  const lines = [name, "ab"].map((one) => ({ name: one, x: [0, 1], y: [1, 2] }));
  const line = drawn({ title: "t", unit: "", xTitle: "s", lines }, { width: 300 });
  const rows = [{ name, mean: 1, halfWidth: 0.1, values: [1] }];
  const bars = drawnIntervals({ title: "t", unit: "", rows }, { width: 300 });
  for (const svg of [line, bars]) {
    expect(svg).toMatch(/>a-very-[^<]*…<title>/);
    expect(svg).toContain(`<title>${name}</title></text>`);
  }
  expect(line).toContain(">ab</text>");
});
