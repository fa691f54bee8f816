/** A time that advances smoothly between two updates. */

/** Maximum gap between two updates that is bridged, in milliseconds; a paused run resumes immediately. */
const LONGEST = 250;

/**
 * A clock that shows time one update late, so that all data between two reported moments is known while the shown time
 * moves from one to the other. Moments are seconds of the run, `wall` is in milliseconds.
 */
export class Clock {
  private before = 0;
  private newest = 0;
  private told = 0;
  private gap = 0;

  /** Reports the newest moment of the run. A moment before the last one restarts the clock. */
  tell(moment: number, wall: number): void {
    if (moment < this.newest) {
      this.before = moment;
      this.gap = 0;
    } else if (moment > this.newest) {
      this.before = this.at(wall);
      this.gap = Math.min(LONGEST, wall - this.told);
    } else {
      return;
    }
    this.newest = moment;
    this.told = wall;
  }

  /** Returns the moment to show. */
  at(wall: number): number {
    const part = this.gap > 0 ? Math.min(1, Math.max(0, (wall - this.told) / this.gap)) : 1;
    return this.before + (this.newest - this.before) * part;
  }

  /** Returns true if the newest moment is shown, so that nothing moves until the next update. */
  isAtRest(wall: number): boolean {
    return this.gap === 0 || wall - this.told >= this.gap;
  }
}
