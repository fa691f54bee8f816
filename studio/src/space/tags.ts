/** Names beside things of a scene: they are text of the page, laid over the canvas. */

export class Tags {
  private readonly tags: HTMLElement[] = [];
  private readonly over: HTMLElement;

  constructor(private readonly host: HTMLElement) {
    this.over = this.tag("hover");
  }

  /** Puts names at places of the canvas; those without a place are hidden. */
  show(names: string[], place: (index: number) => { x: number; y: number } | undefined): void {
    for (const tag of this.tags.slice(names.length)) {
      tag.hidden = true;
    }
    names.forEach((name, index) => {
      this.tags[index] ??= this.tag();
      const tag = this.tags[index] as HTMLElement;
      if (tag.textContent !== name) {
        tag.textContent = name;
      }
      this.put(tag, place(index));
    });
  }

  /** The name of what lies under the pointer. */
  hover(text: string | undefined, at?: { x: number; y: number }): void {
    this.over.textContent = text ?? "";
    this.put(this.over, text ? at : undefined);
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

  private put(tag: HTMLElement, at: { x: number; y: number } | undefined): void {
    tag.hidden = at === undefined;
    if (at) {
      const isRight = at.x > this.host.clientWidth - 160;
      const x = isRight ? `calc(${at.x - 8}px - 100%)` : `${at.x + 10}px`;
      tag.style.transform = `translate(${x}, ${Math.max(2, at.y - 9)}px)`;
    }
  }
}
