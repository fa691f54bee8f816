/** Pictures as PNG, through a canvas of the page. */

/** An SVG as PNG, with so many pixels for each of its own. */
export async function png(svg: string, scale = 2): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * scale;
  canvas.height = image.naturalHeight * scale;
  const pen = canvas.getContext("2d");
  if (!pen) {
    throw new Error("this browser draws no pictures");
  }
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => {
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("this browser writes no PNG"))), "image/png");
  });
}
