/** The page as a screen reader receives it: the accessibility tree of Chromium, and changes of live regions. */

import type { Page } from "playwright-core";

interface Value {
  value?: unknown;
}

interface AXNode {
  nodeId: string;
  parentId?: string;
  ignored: boolean;
  role?: Value;
  name?: Value;
  value?: Value;
  description?: Value;
  properties?: { name: string; value: Value }[];
  childIds?: string[];
}

/** Roles that readers omit, because their content is self-explanatory. */
const SILENT = new Set(["none", "generic", "InlineTextBox", "RootWebArea", "LineBreak", "Canvas", "ListMarker"]);
/** States that are announced. */
const STATES: Record<string, (value: unknown) => string> = {
  level: (value) => `level ${value}`,
  checked: (value) => (value === "true" ? "checked" : "not checked"),
  pressed: (value) => (value === "true" ? "pressed" : "not pressed"),
  expanded: (value) => (value ? "expanded" : "collapsed"),
  selected: (value) => (value ? "selected" : "not selected"),
  disabled: (value) => (value ? "unavailable" : ""),
};

/** Returns the announcements of a screen reader from start to end: role, name, value, states, description. */
export async function spoken(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as unknown as { nodes: AXNode[] };
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const lines: string[] = [];
  const walk = (node: AXNode, around: string) => {
    const said = node.ignored ? "" : lineOf(node, around);
    if (said) {
      lines.push(said);
    }
    for (const id of node.childIds ?? []) {
      const child = byId.get(id);
      if (child) {
        walk(child, node.ignored ? around : String(node.name?.value ?? ""));
      }
    }
  };
  const root = nodes.find(({ parentId }) => parentId === undefined);
  if (root) {
    walk(root, "");
  }
  return lines;
}

function lineOf({ role, name, value, description, properties = [] }: AXNode, around: string): string {
  const kind = String(role?.value ?? "");
  const says = String(name?.value ?? "").trim();
  if (SILENT.has(kind) || (kind === "StaticText" && (says === "" || around.includes(says)))) {
    return "";
  }
  if (kind === "StaticText") {
    return `text ${says}`;
  }
  const states = properties.map((property) => STATES[property.name]?.(property.value.value) ?? "").filter(Boolean);
  const holds = value?.value === undefined || value.value === "" ? [] : [`= ${value.value}`];
  const about = description?.value ? [`(${description.value})`] : [];
  return [kind, ...(says ? [`"${says}"`] : []), ...holds, ...states, ...about].join(" ");
}

/** Returns the controls without an accessible name. */
export function nameless(lines: string[]): string[] {
  return lines.filter((line) =>
    /^(button|link|textbox|checkbox|combobox|slider|spinbutton|searchbox|tab|dialog|image|application|region|table)\b(?! ")/.test(
      line,
    ),
  );
}

/** Starts recording the announcements of live regions. A region that is inserted with its text counts only if it is an alert. */
export async function listen(page: Page): Promise<void> {
  await page.evaluate(() => {
    const heard: string[] = [];
    const regions = "[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]";
    const known = new WeakSet(document.querySelectorAll(regions));
    const last = new WeakMap<Element, string>();
    const say = (region: Element) => {
      const text = (region.textContent ?? "").replace(/\s+/g, " ").trim();
      if (text && last.get(region) !== text && region.getAttribute("aria-live") !== "off") {
        heard.push(text);
      }
      last.set(region, text);
    };
    new MutationObserver((changes) => {
      const changed = new Set<Element>();
      for (const { target } of changes) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest(regions);
        if (region && known.has(region)) {
          changed.add(region);
        }
      }
      for (const region of document.querySelectorAll(regions)) {
        if (!known.has(region)) {
          known.add(region);
          if (region.matches("[role=alert], [aria-live=assertive]")) {
            changed.add(region);
          }
        }
      }
      changed.forEach(say);
    }).observe(document.body, { childList: true, characterData: true, subtree: true });
    Object.assign(globalThis, { heard });
  });
}

/** Returns the announcements of live regions since `listen`, in order. */
export function heard(page: Page): Promise<string[]> {
  return page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard.slice());
}

/** Returns the role or tag of the focused element, and its name. */
export function focus(page: Page): Promise<string> {
  return page.evaluate(() => {
    const at = document.activeElement;
    const name = at?.getAttribute("aria-label") ?? (at === document.body ? "" : (at?.textContent ?? "").trim());
    return `${at?.getAttribute("role") ?? at?.tagName.toLowerCase()} ${name}`.trim();
  });
}
