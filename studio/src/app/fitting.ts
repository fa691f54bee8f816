/** Shortening of names that are drawn on a canvas or in SVG, where the browser does not do it. */

/** Cuts a name to `width`, with "…" at its end if it is cut. `widthOf` measures a text in the unit of `width`. */
export function fitting(name: string, width: number, widthOf: (text: string) => number): string {
  if (widthOf(name) <= width) {
    return name;
  }
  const letters = [...name];
  let [low, high] = [1, letters.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(`${letters.slice(0, middle).join("")}…`) <= width) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return `${letters.slice(0, low).join("")}…`;
}
