/** A time that goes on smoothly between the moments at which it is told. */

/** The longest wait between two tellings that is bridged, in milliseconds; a run that was paused goes on at once. */
const LONGEST = 250;

/**
 * Runs one telling behind: while the time goes from one told moment to the next, both are known, and so is all that lies
 * between them. Moments are seconds of the run, `wall` is in milliseconds.
 */
export class Clock {
  private before = 0;
  private newest = 0;
  private told = 0;
  private gap = 0;

  /** Takes the newest moment. One that lies back starts the clock anew. */
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

  /** The moment to show. */
  at(wall: number): number {
    const part = this.gap > 0 ? Math.min(1, Math.max(0, (wall - this.told) / this.gap)) : 1;
    return this.before + (this.newest - this.before) * part;
  }

  /** Whether the moment shown is the newest, so that nothing moves until the next is told. */
  isAtRest(wall: number): boolean {
    return this.gap === 0 || wall - this.told >= this.gap;
  }
}
