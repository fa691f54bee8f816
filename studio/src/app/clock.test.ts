import { describe, expect, test } from "vitest";
import { Clock } from "./clock.ts";

describe("Clock", () => {
  test("advances between two moments in the time between their reports", () => {
    const clock = new Clock();
    clock.tell(0.5, 500);
    clock.tell(1, 1000);
    expect(clock.at(1250)).toBe(1);
    clock.tell(2, 1350);
    expect(clock.at(1350)).toBe(1);
    expect(clock.at(1475)).toBeCloseTo(1.5);
    expect(clock.isAtRest(1475)).toBe(false);
    expect(clock.at(9000)).toBe(2);
    expect(clock.isAtRest(1600)).toBe(true);
  });

  test("never jumps forward or back if reports arrive irregularly", () => {
    const clock = new Clock();
    let shown = 0;
    let moment = 0;
    for (let wall = 0; wall < 3000; wall += 7) {
      if (wall % 84 === 0 || wall % 91 === 0) {
        moment += 0.1;
        clock.tell(moment, wall);
      }
      const now = clock.at(wall);
      expect(now).toBeGreaterThanOrEqual(shown);
      expect(now).toBeLessThanOrEqual(moment);
      shown = now;
    }
    expect(shown).toBeGreaterThan(moment - 0.3);
  });

  test("a restarted run is shown from its start", () => {
    const clock = new Clock();
    clock.tell(50, 100);
    clock.tell(60, 200);
    clock.tell(0, 300);
    expect(clock.at(300)).toBe(0);
  });
});
