/** Sets the resolution of a canvas to the screen's, up to two pixels per CSS pixel in each direction. */
export function sharpen(canvas: HTMLCanvasElement, pen: CanvasRenderingContext2D | null): void {
  const ratio = Math.min(2, devicePixelRatio);
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  pen?.setTransform(ratio, 0, 0, ratio, 0, 0);
}
