// Tables that sort by a column, filter by a term, and show their first rows until "show all" is clicked.
const FIRST = 25;
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells],
    body = table.tBodies[0],
    rows = [...body.rows];
  const key = (row, at) => row.cells[at].dataset.at ?? row.cells[at].textContent;
  let every = rows.length <= FIRST,
    word = "";
  const frame = table.closest(".wide"),
    bar = document.createElement("p");
  const count = document.createElement("span"),
    more = document.createElement("button");
  const show = () => {
    const words = word.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = [...body.rows].filter((row) => words.every((one) => row.textContent.toLowerCase().includes(one)));
    const shown = new Set(every ? fits : fits.slice(0, FIRST));
    for (const row of body.rows) row.hidden = !shown.has(row);
    count.textContent = shown.size === rows.length ? "" : `${shown.size} of ${rows.length} rows `;
    more.hidden = every || fits.length <= FIRST;
  };
  const sort = (at) => {
    const up = heads[at].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[at].setAttribute("aria-sort", up ? "ascending" : "descending");
    const compare = (a, b) => {
      const [x, y] = [key(a, at), key(b, at)],
        [n, m] = [parseFloat(x), parseFloat(y)];
      if (x === "nan" || y === "nan") return (x === "nan") - (y === "nan");
      return (up ? 1 : -1) * (isNaN(n) || isNaN(m) ? x.localeCompare(y) : n - m);
    };
    body.append(...[...body.rows].sort(compare));
    show();
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(at));
    head.append(button);
  });
  if (rows.length > 8) {
    const label = document.createElement("label"),
      field = document.createElement("input");
    field.type = "search";
    field.addEventListener("input", () => {
      word = field.value;
      show();
    });
    label.append("filter rows: ", field);
    more.type = "button";
    more.textContent = "show all";
    more.addEventListener("click", () => {
      every = true;
      show();
    });
    bar.className = "bar";
    bar.append(label, " ", count, more);
    frame.before(bar);
    show();
  }
  // Printed pages have every row.
  addEventListener("beforeprint", () => {
    for (const row of body.rows) row.hidden = false;
  });
  addEventListener("afterprint", show);
}
// Printed pages unfold everything except the long lists.
const folded = () => [...document.querySelectorAll("details:not(.long)")];
let open = [];
addEventListener("beforeprint", () => {
  open = folded().filter((one) => !one.open);
  open.forEach((one) => {
    one.open = true;
  });
});
addEventListener("afterprint", () =>
  open.forEach((one) => {
    one.open = false;
  }),
);
