// A chart has panels; charts of one group share their horizontal range when one of them is zoomed.
class Chart {
  constructor(figure, about) {
    this.figure = figure;
    this.id = figure.id;
    this.hidden = new Set();
    this.members = about.group ? groups.get(about.group) || [] : [];
    if (about.group) groups.set(about.group, this.members);
    this.members.push(this);
    this.box = html("div", { class: "told" });
    this.box.hidden = true;
    const hosts = [...figure.querySelectorAll(".panel")];
    this.panels = about.panels.map((panel, at) => new Panel(this, panel, hosts[at]));
    figure.append(this.box);
    this.legend(about);
    this.buttons();
    this.draw();
  }

  draw() {
    this.panels.forEach((panel) => panel.draw());
  }

  // Buttons that hide and show a line; a single line needs none.
  legend(about) {
    const names = new Map();
    for (const panel of about.panels)
      for (const one of panel.series || [])
        if (!one.thin) names.set(one.name, { at: one.at, dash: one.solid ? "" : dash(one.at) });
    if (names.size < 2) return;
    const list = html("div", { class: "legend", role: "group", "aria-label": "lines shown" });
    for (const [name, { at }] of names) {
      const sample = make(
        "svg",
        { viewBox: "0 0 34 8", width: 34, height: 8, "aria-hidden": "true" },
        make("line", {
          x1: 0,
          x2: 34,
          y1: 4,
          y2: 4,
          stroke: colour(at),
          "stroke-width": 2,
          "stroke-dasharray": names.get(name).dash,
        }),
      );
      const button = html("button", { type: "button", "aria-pressed": "true" }, sample, name);
      button.addEventListener("click", () => {
        const shows = this.hidden.has(name);
        if (shows) this.hidden.delete(name);
        else this.hidden.add(name);
        button.setAttribute("aria-pressed", String(shows));
        this.draw();
      });
      list.append(button);
    }
    this.figure.querySelector(".panels").before(list);
  }

  buttons() {
    if (!this.panels.some((panel) => panel.full)) return;
    if (this.members[0] !== this) return;
    const whole = html("button", { type: "button", class: "whole" }, "entire range");
    whole.hidden = true;
    whole.addEventListener("click", () => this.zoom(null));
    this.whole = whole;
    this.figure.querySelector(".panels").before(whole);
  }

  zoom(view) {
    for (const chart of this.members) {
      chart.panels.forEach((panel) => panel.look(view));
      if (chart.whole)
        chart.whole.hidden = chart.panels.every((panel) => !panel.full || String(panel.view) === String(panel.full));
    }
  }
}

const data = document.getElementById("charts");
if (!data) return;
const about = JSON.parse(data.textContent);
for (const id in about) all.push(new Chart(document.getElementById(id), about[id]));
let wait;
addEventListener("resize", () => {
  clearTimeout(wait);
  wait = setTimeout(() => all.forEach((chart) => chart.draw()), 100);
});
// On paper a wide chart would be scaled down with its text.
for (const [name, is] of [
  ["beforeprint", true],
  ["afterprint", false],
])
  addEventListener(name, () => {
    paper = is;
    all.forEach((chart) => chart.draw());
  });
// Folded sections have no width until they are opened.
document.addEventListener("toggle", () => all.forEach((chart) => chart.draw()), true);
