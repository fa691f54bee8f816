// A panel of a chart: its axes, lines, bars or states, the values below the pointer, and its part of the zoom.
class Panel {
  constructor(chart, about, host) {
    Object.assign(this, { chart, about, host });
    (about.series || []).forEach(unfold);
    this.full = about.kind === "bars" ? null : this.range();
    this.view = this.full && [...this.full];
    host.addEventListener("pointermove", (event) => this.point(event));
    host.addEventListener("pointerleave", () => this.leave());
    if (!this.full) return;
    host.addEventListener("pointerdown", (event) => this.grab(event));
    host.addEventListener("pointerup", (event) => this.release(event));
    host.addEventListener("dblclick", () => this.chart.zoom(null));
    host.addEventListener("keydown", (event) => this.key(event));
  }

  get visible() {
    return (this.about.series || []).filter((one) => !this.chart.hidden.has(one.name));
  }

  range() {
    const given = this.about.x;
    if (given.min !== undefined && given.max !== undefined) return [given.min, given.max];
    let low = Infinity,
      high = -Infinity;
    for (const one of this.about.series || [])
      for (const x of one.x) {
        if (x < low) low = x;
        if (x > high) high = x;
      }
    for (const row of this.about.rows || [])
      for (const [from, to] of row.parts) {
        low = Math.min(low, from);
        high = Math.max(high, to);
      }
    if (given.scale === "log") return [low / 1.15, high * 1.15];
    if (given.scale === "equal") return [low - 0.4, high + 0.4];
    if (given.min !== undefined) low = given.min;
    else if (low > 0 && low < 0.5 * high) low = 0;
    return low < high ? [low, high] : [low - 0.5, high + 0.5];
  }

  // The vertical range of the values in view.
  heights() {
    const given = this.about.y;
    let high = 0,
      low = given.min ?? 0;
    for (const one of this.visible)
      for (let at = 0; at < one.x.length; at++) {
        if (one.x[at] < this.view[0] || one.x[at] > this.view[1]) continue;
        const top = one.hi ? Math.min(one.hi[at] ?? 0, 1.4 * (one.y[at] ?? 0)) : one.y[at];
        if (top > high) high = top;
      }
    for (const limit of this.about.limits || []) if (limit.y <= 2 * high) high = Math.max(high, limit.y);
    if (given.max !== undefined) high = Math.max(given.max, 0);
    return [low, high > low ? (given.max === undefined ? low + 1.06 * (high - low) : high) : low + 1];
  }

  draw() {
    this.leave();
    const room = this.host.clientWidth;
    this.width = Math.max(paper ? Math.min(room, PAPER) : room, 240);
    const kind = this.about.kind;
    this.left =
      kind !== "bars"
        ? SPACE.left
        : Math.min(0.4 * this.width, 14 + 6.6 * Math.max(...this.about.rows.map((row) => row.name.length)));
    this.height =
      kind === "line"
        ? this.about.height || 220
        : SPACE.top + SPACE.bottom + this.about.rows.length * (kind === "bars" ? 26 : 30);
    const svg = make("svg", {
      viewBox: `0 0 ${this.width} ${this.height}`,
      "aria-hidden": "true",
      focusable: "false",
    });
    const title = make("text", { x: 4, y: 14, class: "title" }, this.about.title || "");
    svg.append(title);
    this.svg = svg;
    if (kind === "bars") this.bars();
    else if (kind === "states") this.states();
    else this.lines();
    this.over = make("g", {});
    svg.append(this.over);
    this.host.replaceChildren(svg);
  }

  place(x) {
    const { scale } = this.about.x,
      [low, high] = this.view,
      wide = this.width - this.left - SPACE.right;
    const share = scale === "log" ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
    return this.left + share * wide;
  }

  back(pixel) {
    const { scale } = this.about.x,
      [low, high] = this.view;
    const share = (pixel - this.left) / (this.width - this.left - SPACE.right);
    return scale === "log" ? low * (high / low) ** share : low + share * (high - low);
  }

  abscissa() {
    const bottom = this.height - SPACE.bottom,
      { x } = this.about,
      [low, high] = this.view;
    const marks = x.ticks
      ? x.ticks.filter(([at]) => at >= low && at <= high)
      : (x.scale === "log" ? powers(low, high) : ticks(low, high, (this.width - this.left) / 80)).map((at) => [
          at,
          shown(at, 6),
        ]);
    let last = -Infinity;
    for (const [at, text] of marks) {
      const pixel = this.place(at);
      this.svg.append(make("line", { x1: pixel, x2: pixel, y1: bottom, y2: bottom + 4, class: "axis" }));
      const half = 3.4 * text.length;
      if (pixel - half < last) continue;
      last = pixel + half + 4;
      const anchor = pixel + half > this.width ? "end" : "middle";
      this.svg.append(
        make("text", { x: anchor === "end" ? this.width - 2 : pixel, y: bottom + 16, "text-anchor": anchor }, text),
      );
    }
    this.svg.append(
      make("line", { x1: this.left, x2: this.width - SPACE.right, y1: bottom, y2: bottom, class: "axis" }),
    );
    if (x.label)
      this.svg.append(
        make(
          "text",
          { x: (this.left + this.width - SPACE.right) / 2, y: this.height - 4, "text-anchor": "middle" },
          x.label,
        ),
      );
  }

  // A nested SVG element clips its content.
  clip() {
    const [x, y, width, height] = [
      this.left,
      SPACE.top - 4,
      this.width - this.left - SPACE.right,
      this.height - SPACE.bottom - SPACE.top + 5,
    ];
    const inside = make("svg", { x, y, width, height, viewBox: `${x} ${y} ${width} ${height}`, class: "inside" });
    this.svg.append(inside);
    return inside;
  }

  lines() {
    const bottom = this.height - SPACE.bottom,
      [low, high] = this.heights();
    this.y = (value) => bottom - ((value - low) / (high - low)) * (bottom - SPACE.top);
    for (const at of ticks(low, high, (bottom - SPACE.top) / 42)) {
      const pixel = this.y(at);
      this.svg.append(
        make("line", { x1: this.left, x2: this.width - SPACE.right, y1: pixel, y2: pixel, class: "grid" }),
      );
      this.svg.append(make("text", { x: this.left - 6, y: pixel + 4, "text-anchor": "end" }, shown(at)));
    }
    this.abscissa();
    const inside = this.clip();
    for (const limit of this.about.limits || []) {
      if (limit.y > high) continue;
      inside.append(
        make("line", { x1: this.left, x2: this.width, y1: this.y(limit.y), y2: this.y(limit.y), class: "limit" }),
      );
      this.svg.append(
        make(
          "text",
          { x: this.width - SPACE.right - 2, y: this.y(limit.y) - 4, "text-anchor": "end", class: "note" },
          limit.name,
        ),
      );
    }
    for (const one of this.visible) if (one.lo) inside.append(this.band(one));
    for (const one of this.visible) this.curve(one, inside);
    if (!this.visible.some((one) => one.y.some((value) => value !== null)) && this.about.empty)
      this.svg.append(
        make(
          "text",
          { x: (this.left + this.width) / 2, y: this.height / 2, "text-anchor": "middle", class: "note" },
          this.about.empty,
        ),
      );
  }

  band(one) {
    const up = [],
      down = [];
    one.x.forEach((x, at) => {
      if (one.hi[at] === null) return;
      up.push(`${this.place(x).toFixed(1)},${this.y(one.hi[at]).toFixed(1)}`);
      down.unshift(`${this.place(x).toFixed(1)},${this.y(Math.max(one.lo[at], 0)).toFixed(1)}`);
    });
    if (one.bars) {
      const bars = make("g", { stroke: colour(one.at), "stroke-width": 1.2 });
      up.forEach((end, at) => {
        const [x, y1] = end.split(","),
          y2 = down[down.length - 1 - at].split(",")[1];
        bars.append(make("line", { x1: x, x2: x, y1, y2 }));
      });
      return bars;
    }
    return make("polygon", { points: [...up, ...down].join(" "), fill: colour(one.at), "fill-opacity": 0.14 });
  }

  curve(one, inside) {
    // Points outside the view are omitted, except the nearest on either side.
    const first = Math.max(one.x.findIndex((x) => x >= this.view[0]) - 1, 0);
    let path = "",
      pen = "M",
      before = null;
    for (let at = first; at < one.x.length; at++) {
      const value = one.y[at];
      if (value === null) {
        pen = "M";
        before = null;
        continue;
      }
      const x = this.place(one.x[at]).toFixed(1),
        y = this.y(value).toFixed(1);
      if (one.stem) path += `M${x},${this.y(0).toFixed(1)}V${y}`;
      else path += one.step && before !== null && pen === "L" ? `H${x}V${y}` : `${pen}${x},${y}`;
      if (one.dots) inside.append(make("circle", { cx: x, cy: y, r: 2.6, fill: colour(one.at) }));
      pen = "L";
      before = y;
      if (one.x[at] > this.view[1]) break;
    }
    if (one.line === 0) return;
    const look = {
      d: path,
      fill: "none",
      stroke: colour(one.at),
      "stroke-width": one.thin ? 0.9 : 1.6,
      "stroke-dasharray": one.stem || one.solid ? "" : dash(one.at),
    };
    if (one.thin) look["stroke-opacity"] = 0.65;
    inside.append(make("path", look));
  }

  bars() {
    const { rows, x } = this.about;
    let high = x.max ?? 0;
    if (x.max === undefined)
      for (const row of rows) high = Math.max(high, row.mean, row.hi ?? 0, ...(row.values || []));
    this.view = [0, (x.max === undefined ? 1.04 : 1) * high || 1];
    const bottom = this.height - SPACE.bottom;
    for (const at of ticks(...this.view, (this.width - this.left) / 80)) {
      const pixel = this.place(at);
      this.svg.append(make("line", { x1: pixel, x2: pixel, y1: SPACE.top - 4, y2: bottom, class: "grid" }));
    }
    this.abscissa();
    rows.forEach((row, at) => {
      const y = SPACE.top + 26 * at,
        middle = y + 11;
      const name =
        row.name.length * 6.6 > this.left ? row.name.slice(0, Math.floor(this.left / 6.6) - 2) + "…" : row.name;
      this.svg.append(make("text", { x: this.left - 6, y: middle + 4, "text-anchor": "end" }, name));
      this.svg.append(
        make("rect", {
          x: this.left,
          y,
          width: Math.max(this.place(row.mean) - this.left, 0),
          height: 18,
          fill: colour(row.at),
          "fill-opacity": 0.8,
        }),
      );
      if (row.hi !== undefined) {
        const [low, end] = [Math.max(row.lo, 0), row.hi].map((value) => this.place(value));
        this.svg.append(
          make("path", { d: `M${low},${middle - 4}v8m0,-4H${end}m0,-4v8`, fill: "none", class: "error" }),
        );
      }
      for (const value of row.values || [])
        this.svg.append(make("circle", { cx: this.place(value), cy: y + 15, r: 2.2, class: "dot" }));
    });
  }

  states() {
    const bottom = this.height - SPACE.bottom;
    this.abscissa();
    const inside = this.clip();
    this.about.rows.forEach((row, at) => {
      const y = SPACE.top + 30 * at + 14;
      this.svg.append(make("text", { x: this.left, y: y - 4 }, row.name));
      for (const [from, to, state] of row.parts) {
        if (to < this.view[0] || from > this.view[1]) continue;
        const start = this.place(from);
        inside.append(
          make("rect", {
            x: start,
            y,
            width: Math.max(this.place(to) - start, 1),
            height: 14,
            fill: STATES[state] || "var(--grey)",
            "fill-opacity": state === "open" ? 0.35 : 1,
          }),
        );
      }
    });
    let pixel = this.left;
    for (const state of this.about.states) {
      this.svg.append(
        make("rect", {
          x: pixel,
          y: 5,
          width: 12,
          height: 10,
          fill: STATES[state] || "var(--grey)",
          "fill-opacity": state === "open" ? 0.35 : 1,
        }),
      );
      this.svg.append(make("text", { x: pixel + 16, y: 14 }, state));
      pixel += 40 + 6.6 * state.length;
    }
  }

  // The values below the pointer.
  point(event) {
    const box = this.host.getBoundingClientRect(),
      scale = this.width / box.width;
    const pixel = (event.clientX - box.left) * scale,
      level = (event.clientY - box.top) * scale;
    if (this.start !== undefined) return this.mark(pixel);
    if (pixel < this.left || pixel > this.width - SPACE.right) return this.leave();
    const bars = this.about.kind === "bars";
    if (bars) this.tell(this.ofBar(level), pixel, level);
    else
      this.chart.members.forEach((one) =>
        one.panels.forEach((panel) => panel.cross(this.back(pixel), panel === this ? level : null)),
      );
  }

  cross(x, level) {
    if (!this.view || x < this.view[0] || x > this.view[1]) return;
    const pixel = this.place(x);
    this.over.replaceChildren(
      make("line", { x1: pixel, x2: pixel, y1: SPACE.top - 4, y2: this.height - SPACE.bottom, class: "cross" }),
    );
    if (level === null) return;
    const lines = [];
    if (this.about.kind === "states") {
      for (const row of this.about.rows) {
        const part = row.parts.find(([from, to]) => from <= x && x <= to);
        if (part) lines.push([row.name, part[2]]);
      }
      this.tell([`${shown(x, 5)} ${this.about.x.unit || ""}`, lines], pixel, level);
      return;
    }
    let where = x;
    for (const one of this.visible) {
      if (!one.x.length) continue;
      let at = nearest(one.x, x);
      if (one.step && one.x[at] > x && at > 0) at--;
      if (!one.step && !one.stem && lines.length === 0) where = one.x[at];
      const value = one.y[at];
      if (one.stem && Math.abs(this.place(one.x[at]) - pixel) > 4) continue;
      if (value !== null)
        this.over.append(
          make("circle", { cx: this.place(one.x[at]), cy: this.y(value), r: 3.2, fill: colour(one.at) }),
        );
      const ends = one.lo && one.hi[at] !== null && one.hi[at] > value ? ` ± ${shown(one.hi[at] - value, 2)}` : "";
      lines.push([one.name, shown(value) + ends, one.at]);
    }
    const tick = (this.about.x.ticks || []).find(([at]) => at === where);
    this.tell(
      [tick ? `${this.about.x.label} ${tick[1]}` : `${shown(where, 5)} ${this.about.x.unit || ""}`, lines],
      pixel,
      level,
    );
  }

  ofBar(level) {
    const row = this.about.rows[Math.floor((level - SPACE.top) / 26)];
    if (!row) return null;
    const half = row.hi === undefined ? "" : ` ± ${shown(row.hi - row.mean, 2)}`;
    const runs = (row.values || []).length;
    const lines = [["mean", `${shown(row.mean)}${half}`, row.at]];
    if (runs > 1)
      lines.push(
        ["minimum", shown(Math.min(...row.values))],
        ["maximum", shown(Math.max(...row.values))],
        ["runs", String(runs)],
      );
    return [row.name, lines];
  }

  tell(told, pixel, level) {
    const box = this.chart.box;
    if (!told) {
      box.hidden = true;
      return;
    }
    const [head, lines] = told;
    box.replaceChildren(
      html("b", {}, head),
      ...lines.slice(0, 14).map(([name, value, at]) => {
        const row = html("span", {}, `${name}: ${value}`);
        if (at !== undefined) row.style.borderLeft = `4px solid ${colour(at)}`;
        return row;
      }),
    );
    box.hidden = false;
    const frame = this.chart.figure.getBoundingClientRect(),
      own = this.host.getBoundingClientRect();
    const ratio = own.width / this.width,
      x = own.left - frame.left + pixel * ratio,
      wide = box.offsetWidth;
    box.style.left = `${x + wide + 18 > frame.width ? Math.max(x - wide - 12, 0) : x + 12}px`;
    box.style.top = `${own.top - frame.top + level * ratio + 12}px`;
  }

  leave() {
    this.chart.box.hidden = true;
    this.chart.members.forEach((one) => one.panels.forEach((panel) => panel.over && panel.over.replaceChildren()));
  }

  grab(event) {
    const box = this.host.getBoundingClientRect();
    if (event.button === 0) this.start = ((event.clientX - box.left) * this.width) / box.width;
  }

  mark(pixel) {
    const [low, high] = [this.start, pixel].sort((a, b) => a - b);
    this.over.replaceChildren(
      make("rect", {
        x: low,
        y: SPACE.top - 4,
        width: high - low,
        height: this.height - SPACE.bottom - SPACE.top + 4,
        class: "marked",
      }),
    );
  }

  release(event) {
    if (this.start === undefined) return;
    const box = this.host.getBoundingClientRect(),
      end = ((event.clientX - box.left) * this.width) / box.width;
    const ends = [this.start, end]
      .map((pixel) => this.back(Math.min(Math.max(pixel, this.left), this.width - SPACE.right)))
      .sort((a, b) => a - b);
    const moved = Math.abs(end - this.start);
    this.start = undefined;
    this.over.replaceChildren();
    if (moved > 6) this.chart.zoom(ends);
  }

  key(event) {
    const [low, high] = this.view,
      step = (high - low) / 4;
    const views = {
      "+": [low + step, high - step],
      "-": [low - 2 * step, high + 2 * step],
      0: null,
      ArrowLeft: [low - step, high - step],
      ArrowRight: [low + step, high + step],
    };
    if (!(event.key in views)) return;
    event.preventDefault();
    this.chart.zoom(views[event.key]);
  }

  // The entire range clips values outside it.
  look(view) {
    if (!this.full) return;
    const [least, most] = this.full;
    if (!view) this.view = [least, most];
    else {
      const wide = Math.min(view[1] - view[0], most - least),
        low = Math.min(Math.max(view[0], least), most - wide);
      this.view = [low, low + wide];
    }
    this.draw();
  }
}
