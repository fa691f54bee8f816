/**
 * Writes a page as a single file with its script and its style sheet. The content security policy of the page allows
 * these two and no address.
 */

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

export function single(): Plugin {
  return {
    name: "single",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const page = files.find(({ fileName }) => fileName.endsWith(".html"));
      const scripts = files.filter((file) => file.type === "chunk");
      const styles = files.filter(({ fileName }) => fileName.endsWith(".css"));
      const [script, style] = [scripts[0], styles[0]];
      if (page?.type !== "asset" || scripts.length !== 1 || style?.type !== "asset" || styles.length !== 1) {
        this.error(`a page of one file has one script and one style sheet, not ${files.map((file) => file.fileName)}`);
      }
      page.source = inOne(String(page.source), script?.code ?? "", String(style.source));
      for (const { fileName } of [...scripts, ...styles]) {
        delete bundle[fileName];
      }
    },
  };
}

/** Replaces the references to the script and the style sheet by their contents. */
export function inOne(page: string, script: string, style: string): string {
  // An end tag within a text of the script would end it.
  const code = script.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  const css = style.trim();
  return page
    .replace(/\s*<script type="module"[^>]*src=[^>]*><\/script>/, "")
    .replace(/\s*<link rel="stylesheet"[^>]*>/, () => `\n    <style>${css}</style>`)
    .replace("</body>", () => `  <script type="module">${code}</script>\n  </body>`)
    .replace("__SCRIPT__", hashOf(code))
    .replace("__STYLE__", hashOf(css));
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
