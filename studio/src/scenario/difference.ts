/** Returns the part in which two texts differ. */
export function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) {
    head++;
  }
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) {
    tail++;
  }
  return { from: head, to: before.length - tail, insert: after.slice(head, after.length - tail) };
}
