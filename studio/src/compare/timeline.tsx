/** Figures of a comparison over time and over flows. */

import { effect, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isDark } from "../app/theme.ts";
import { drawn, drawnIntervals } from "../save/figure.ts";
import { chosenSeed, comparison, doneSeeds, shownSeed } from "./course.ts";
import { type Picture, pictures } from "./pictures.ts";

/** Milliseconds between two updates of the figures during a comparison. */
const REST = 300;
const HEIGHT = 260;

/** Figures on the screen. */
export const drawnPictures = signal<Picture[]>([]);

function keepPictures(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = () => {
    timer = undefined;
    drawnPictures.value = pictures(comparison.peek(), shownSeed.peek());
  };
  const end = effect(() => {
    void comparison.value;
    void shownSeed.value;
    timer ??= setTimeout(draw, drawnPictures.peek().length > 0 ? REST : 0);
  });
  return () => {
    end();
    clearTimeout(timer);
  };
}

export function Timeline() {
  useEffect(keepPictures, []);
  if (drawnPictures.value.length === 0) {
    return null;
  }
  return (
    <section class="panel results" aria-labelledby="timeline">
      <header>
        <h2 id="timeline">Over time and by flow</h2>
        <label>
          Seed{" "}
          <select
            value={String(shownSeed.value)}
            onChange={(event) => {
              chosenSeed.value = Number(event.currentTarget.value);
            }}
          >
            {doneSeeds.value.map((seed) => (
              <option key={seed}>{seed}</option>
            ))}
          </select>
        </label>
      </header>
      <div class="curves">
        {drawnPictures.value.map((picture) => (
          <Drawn key={picture.figure.title} picture={picture} />
        ))}
      </div>
      <p class="quiet note">Goodput and cwnd come from the runs with this seed; the other charts include all runs.</p>
    </section>
  );
}

function Drawn({ picture: { figure, says } }: { picture: Picture }) {
  const host = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    const sizes = new ResizeObserver(([entry]) => {
      width.value = Math.round(entry?.contentRect.width ?? 0);
    });
    if (host.current) {
      sizes.observe(host.current);
    }
    return () => sizes.disconnect();
  }, [width]);
  // The renderer escapes every text.
  const looks = { width: width.value, height: HEIGHT, isDark: isDark() };
  const svg = width.value === 0 ? "" : "lines" in figure ? drawn(figure, looks) : drawnIntervals(figure, looks);
  return <div class="curve" ref={host} role="img" aria-label={says} dangerouslySetInnerHTML={{ __html: svg }} />;
}
