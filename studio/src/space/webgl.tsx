/** What is said where the browser draws nothing in three dimensions. */
export function NoWebGL({ what }: { what: string }) {
  return (
    <p class="fault" role="alert">
      {what} needs WebGL 2, which this browser does not offer. Switch on hardware acceleration, or take another browser.
      All else works without it.
    </p>
  );
}
