/** The drawing itself: a graph on a canvas; links are drawn from node to node. */

import cytoscape, { type Core, type EventObject, type NodeSingular, type StylesheetJson } from "cytoscape";
import type { Spot } from "../app/layout.ts";
import { colour } from "../app/theme.ts";
import type { Graph } from "./graph.ts";

export interface Strokes {
  link(from: string, to: string): void;
  node(at: Spot): void;
  choose(what: { link: number } | { flow: number } | { node: string } | undefined): void;
}

/** Id of the style element that Cytoscape would otherwise insert, which the page's policy does not allow. */
const SHEET = "__________cytoscape_stylesheet";

const GHOST = " ghost";

export class Canvas {
  private readonly core: Core;
  private readonly spots = new Map<string, Spot>();
  private isConnecting = false;
  /** Whether the entire graph is in view, and stays so. */
  private isFitted = true;
  private isEditable = false;
  private era = 0;
  private from: string | undefined;

  constructor(
    private readonly host: HTMLElement,
    private readonly strokes: Strokes,
  ) {
    if (!document.getElementById(SHEET)) {
      const mark = document.createElement("meta");
      mark.id = SHEET;
      document.head.append(mark);
    }
    this.core = cytoscape({ container: host, style: look(), minZoom: 0.05, maxZoom: 4, selectionType: "single" });
    this.core.on("dragfree", "node", ({ target }) => this.spots.set(target.id(), { ...target.position() }));
    this.core.on("scrollzoom pinchzoom dragpan", () => {
      this.isFitted = false;
    });
    this.core.on("tap", (event) => this.tapped(event));
    this.core.on("tapstart", "node", ({ target }) => this.start(target));
    this.core.on("tapdrag", ({ position }) => this.drag(position));
    this.core.on("tapend", ({ position }) => this.end(position));
  }

  /** Whether the container is higher than wide, as on a phone. */
  get isTall(): boolean {
    return this.host.clientWidth < 500;
  }

  /**
   * Shows a graph. Nodes already shown stay in place. New nodes get the given positions, and so do all nodes if `era`
   * has changed.
   */
  show(graph: Graph, places: Map<string, Spot>, isEditable: boolean, era: number): void {
    this.isEditable = isEditable;
    const isNew = era !== this.era || !graph.nodes.some(({ name }) => this.spots.has(name));
    this.era = era;
    if (isNew) {
      this.spots.clear();
    }
    const isLarge = graph.nodes.length > 60;
    const nodes = graph.nodes.map(({ name, kind }) => {
      const spot = this.spots.get(name) ?? places.get(name) ?? { x: 0, y: 0 };
      this.spots.set(name, spot);
      return {
        group: "nodes" as const,
        data: { id: name, label: isLarge && kind !== "station" ? "" : name },
        position: { ...spot },
        classes: kind,
      };
    });
    const edges = graph.edges.map(({ id, from, to, says, index }) => ({
      group: "edges" as const,
      data: { id: `e ${id}`, source: from, target: to, label: isLarge ? "" : says, index },
      classes: isLarge ? "link thin" : "link",
    }));
    const flows = graph.flows.slice(0, 40).map(({ from, to, name, index }) => ({
      group: "edges" as const,
      data: { id: `f ${index} ${name}`, source: from, target: to, flow: index, colour: colour(`s${(index % 8) + 1}`) },
      classes: "flow",
    }));
    this.core.batch(() => {
      this.core.elements().remove();
      this.core.add([...nodes, ...edges, ...flows]);
    });
    this.core.autoungrabify(this.isConnecting);
    if (isNew) {
      this.fit();
    }
  }

  /** Sets the initial position of a node that is not shown yet. */
  place(name: string, spot: Spot): void {
    this.spots.set(name, spot);
  }

  connect(isOn: boolean): void {
    this.isConnecting = isOn;
    this.core.autoungrabify(isOn);
    this.core.userPanningEnabled(!isOn);
  }

  /** Marks the selection. */
  mark(what: { link?: number; flow?: number; node?: string }): void {
    this.core.elements().removeClass("chosen");
    const is = (key: string, value: unknown) =>
      value !== undefined &&
      this.core
        .elements()
        .filter((part) => part.data(key) === value)
        .addClass("chosen");
    is("index", what.link);
    is("flow", what.flow);
    if (what.node) {
      this.core.getElementById(what.node).addClass("chosen");
    }
  }

  /** Adapts to a new size of the container. */
  resize(): void {
    this.core.resize();
    if (this.isFitted) {
      this.fit();
    }
  }

  fit(): void {
    this.isFitted = true;
    this.core.fit(undefined, 36);
    if (this.core.zoom() > 1.3) {
      this.core.zoom(1.3);
      this.core.center();
    }
  }

  restyle(): void {
    this.core.style(look());
  }

  destroy(): void {
    this.core.destroy();
  }

  private tapped({ target, position }: EventObject): void {
    if (target === this.core) {
      if (this.isConnecting && this.isEditable) {
        this.strokes.node({ ...position });
      } else {
        this.strokes.choose(undefined);
      }
    } else if (target.isNode()) {
      this.strokes.choose({ node: target.id() });
    } else if (target.hasClass("flow")) {
      this.strokes.choose({ flow: target.data("flow") });
    } else if (target.data("index") !== undefined) {
      this.strokes.choose({ link: target.data("index") });
    }
  }

  private start(node: NodeSingular): void {
    if (this.isConnecting && this.isEditable) {
      this.from = node.id();
    }
  }

  private drag(at: Spot): void {
    if (this.from === undefined) {
      return;
    }
    const ghost = this.core.getElementById(GHOST);
    if (ghost.empty()) {
      this.core.add([
        { group: "nodes", data: { id: GHOST, label: "" }, position: { ...at }, classes: "ghost" },
        {
          group: "edges",
          data: { id: `e${GHOST}`, source: this.from, target: GHOST, label: "" },
          classes: "link chosen",
        },
      ]);
    } else {
      ghost.position({ ...at });
    }
  }

  private end(at: Spot): void {
    const { from } = this;
    this.from = undefined;
    if (from === undefined || this.core.getElementById(GHOST).empty()) {
      return;
    }
    this.core.getElementById(GHOST).remove();
    const to = this.core.nodes().filter((node) => Math.hypot(node.position().x - at.x, node.position().y - at.y) < 26);
    const name = to[0]?.id();
    if (name && name !== from) {
      this.strokes.link(from, name);
    }
  }
}

function look(): StylesheetJson {
  const text = { color: colour("ink"), "font-size": 11, "font-family": "system-ui, sans-serif" };
  return [
    {
      selector: "node",
      style: {
        ...text,
        width: 18,
        height: 18,
        label: "data(label)",
        "text-wrap": "ellipsis",
        "text-max-width": "160px",
        "text-valign": "bottom",
        "text-margin-y": 4,
        "background-color": colour("quiet"),
        "border-width": 2,
        "border-color": colour("paper"),
        "overlay-opacity": 0,
      },
    },
    { selector: ".host", style: { "background-color": colour("s1") } },
    { selector: ".radio", style: { "background-color": colour("s3"), width: 12, height: 12 } },
    { selector: ".station", style: { "background-color": colour("s2"), shape: "triangle" } },
    {
      selector: ".satellite",
      style: { "background-color": colour("line-strong"), width: 4, height: 4, "border-width": 0, shape: "diamond" },
    },
    { selector: ".router", style: { shape: "round-rectangle" } },
    {
      selector: ".link",
      style: {
        ...text,
        color: colour("quiet"),
        width: 2,
        label: "data(label)",
        "text-wrap": "wrap",
        "text-background-color": colour("paper"),
        "text-background-opacity": 0.9,
        "line-color": colour("line-strong"),
        "curve-style": "bezier",
        "overlay-opacity": 0,
      },
    },
    {
      selector: ".thin",
      style: { width: 0.6, "curve-style": "haystack", "line-opacity": 0.5, label: "" },
    },
    {
      selector: ".flow",
      style: {
        width: 1.5,
        "line-style": "dashed",
        "line-color": "data(colour)",
        "target-arrow-color": "data(colour)",
        "target-arrow-shape": "triangle",
        "curve-style": "unbundled-bezier",
        "control-point-distances": [48],
        "control-point-weights": [0.5],
        "overlay-opacity": 0,
      },
    },
    { selector: "node.chosen", style: { "border-color": colour("s5"), "border-width": 4 } },
    { selector: "edge.chosen", style: { width: 4, "line-color": colour("s5"), "target-arrow-color": colour("s5") } },
    { selector: ".ghost", style: { width: 4, height: 4 } },
  ];
}
