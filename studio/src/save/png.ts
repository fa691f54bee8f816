/** Figures as PNG, rendered on a canvas of the page. */

/** Converts an SVG to PNG, at `scale` times its size in pixels. */
export async function png(svg: string, scale = 2): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * scale;
  canvas.height = image.naturalHeight * scale;
  const pen = canvas.getContext("2d");
  if (!pen) {
    throw new Error("this browser cannot render images");
  }
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => {
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("this browser cannot write PNG files"))), "image/png");
  });
}
