/** Files for the user's disk. */

export interface NamedFile {
  name: string;
  content: string | Uint8Array<ArrayBuffer> | ArrayBuffer | Blob;
  type: string;
}

export function download({ name, content, type }: NamedFile): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName(name);
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has opened the address by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Returns a file name that is valid on every system. */
export function fileName(name: string): string {
  const plain = Array.from(name, (letter) => (/[\p{L}\p{N}._+-]/u.test(letter) ? letter : "-")).join("");
  return plain.replace(/^\.+/, "").slice(0, 120) || "lightlag";
}

/** Packs several files into one. */
export async function zipped(
  name: string,
  files: { name: string; content: Uint8Array | string }[],
): Promise<NamedFile> {
  const { strToU8, zipSync } = await import("fflate");
  const parts = files.map(({ name, content }): [string, Uint8Array] => [
    fileName(name),
    typeof content === "string" ? strToU8(content) : content,
  ]);
  // The time of a file is the earliest of the zip format, so that the same run gives the same bytes.
  const content = zipSync(Object.fromEntries(parts), { level: 6, mtime: new Date(1980, 0, 1) });
  return { name, content: content as Uint8Array<ArrayBuffer>, type: "application/zip" };
}
