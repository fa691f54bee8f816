/**
 * `<lightlag-run>`: a run of a scenario in any page, in a frame of the studio's `embed.html`.
 *
 *     <script type="module" src="studio/lightlag-run.js"></script>
 *     <lightlag-run scenario="geo" sets="defaults.tcp.congestion=bbr" seed="2" height="600"></lightlag-run>
 *
 * A custom scenario is inside the element, in `<script type="application/toml">`.
 */

import { written } from "./link.ts";
import { queryOf, setsOf, type Wish } from "./parameters.ts";

const here = import.meta.url;
const HEIGHT = 640;

class LightlagRun extends HTMLElement {
  connectedCallback(): void {
    void this.show();
  }

  private async show(): Promise<void> {
    const toml = this.querySelector("script")?.textContent;
    const wish: Wish = { sets: setsOf(this.getAttribute("sets") ?? ""), isAtOnce: this.hasAttribute("autorun") };
    const scenario = this.getAttribute("scenario");
    const seed = Number.parseInt(this.getAttribute("seed") ?? "", 10);
    if (scenario) {
      wish.scenario = scenario;
    }
    if (seed >= 0) {
      wish.seed = seed;
    }
    const address = new URL("embed.html", here);
    address.search = queryOf(wish);
    address.hash = toml ? await written({ toml }) : "";
    const frame = document.createElement("iframe");
    frame.src = address.href;
    frame.title = this.getAttribute("title") ?? `A run of ${scenario ?? "a scenario"}`;
    frame.width = "100%";
    frame.height = this.getAttribute("height") ?? String(HEIGHT);
    frame.loading = "lazy";
    frame.setAttribute("frameborder", "0");
    this.querySelector("iframe")?.remove();
    this.append(frame);
  }
}

if (!customElements.get("lightlag-run")) {
  customElements.define("lightlag-run", LightlagRun);
}
