/** Names next to objects of a scene: they are text of the page, laid over the canvas. */

/** Width of a letter, height of a line, and maximum width of a name, in pixels. */
const LETTER = 6.6;
const LINE = 18;
const WIDEST = 160;

export class Tags {
  private readonly tags: HTMLElement[] = [];
  private readonly over: HTMLElement;
  private readonly transforms = new Map<HTMLElement, string>();
  private size = { width: 0, height: 0 };

  constructor(
    private readonly host: HTMLElement,
    private readonly kind = "",
  ) {
    this.over = this.tag("hover");
  }

  /** Shows names at positions of the canvas; names without a position or over an earlier name are hidden. */
  show(names: string[], positionOf: (index: number) => { x: number; y: number } | undefined): void {
    // Read before anything is written, so that nothing is laid out twice.
    this.size = { width: this.host.clientWidth, height: this.host.clientHeight };
    const taken: { x: number; y: number; wide: number }[] = [];
    const room = (name: string, at: { x: number; y: number } | undefined) => {
      if (!at || at.x < 0 || at.y < 0 || at.x > this.size.width || at.y > this.size.height) {
        return undefined;
      }
      const wide = Math.min(WIDEST, LETTER * name.length + 8);
      const box = { x: this.isRight(at) ? at.x - 8 - wide : at.x + 10, y: at.y, wide };
      if (taken.some((one) => overlap(one, box))) {
        return undefined;
      }
      taken.push(box);
      return at;
    };
    for (const tag of this.tags.slice(names.length)) {
      tag.hidden = true;
    }
    names.forEach((name, index) => {
      this.tags[index] ??= this.tag(this.kind);
      const tag = this.tags[index] as HTMLElement;
      if (tag.textContent !== name) {
        tag.textContent = name;
      }
      this.put(tag, room(name, positionOf(index)));
    });
  }

  /** Shows the name of the object under the pointer. */
  hover(text: string | undefined, position?: { x: number; y: number }): void {
    if (this.over.textContent !== (text ?? "")) {
      this.over.textContent = text ?? "";
    }
    this.put(this.over, text ? position : undefined);
  }

  clear(): void {
    for (const tag of [...this.tags, this.over]) {
      tag.remove();
    }
  }

  private tag(more = ""): HTMLElement {
    const tag = document.createElement("div");
    tag.className = `tag ${more}`;
    tag.ariaHidden = "true";
    tag.hidden = true;
    this.host.append(tag);
    return tag;
  }

  /** Returns true if a name does not fit at the right of its point. */
  private isRight({ x }: { x: number }): boolean {
    return x > this.size.width - WIDEST;
  }

  /** Moves a name by entire pixels, and only if it moved: each change of a style costs a layout. */
  private put(tag: HTMLElement, at: { x: number; y: number } | undefined): void {
    if (tag.hidden !== (at === undefined)) {
      tag.hidden = at === undefined;
    }
    if (at) {
      const x = this.isRight(at) ? `calc(${Math.round(at.x - 8)}px - 100%)` : `${Math.round(at.x + 10)}px`;
      const transform = `translate(${x}, ${Math.round(Math.max(2, at.y - 9))}px)`;
      if (this.transforms.get(tag) !== transform) {
        this.transforms.set(tag, transform);
        tag.style.transform = transform;
      }
    }
  }
}

/** Returns true if two names would overlap. */
export function overlap(
  label: { x: number; y: number; wide: number },
  other: { x: number; y: number; wide: number },
): boolean {
  return Math.abs(label.y - other.y) < LINE && label.x < other.x + other.wide && other.x < label.x + label.wide;
}
