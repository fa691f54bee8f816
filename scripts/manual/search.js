// Queries the search of a built site: node search.js DIRECTORY QUERY... prints the results of each query as JSON.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const [root, ...queries] = process.argv.slice(2);

// The script of the search needs a page; nothing is shown.
const element = () => ({
  addEventListener() {},
  appendChild: (one) => one,
  childNodes: [],
  dataset: {},
  firstChild: null,
  readyState: "loading",
});
const page = { ...element(), createElement: element, documentElement: element(), getElementById: element };
const scope = {
  console,
  DOCUMENTATION_OPTIONS: {},
  document: page,
  localStorage: { setItem() {} },
  SPHINX_HIGHLIGHT_ENABLED: false,
  URLSearchParams,
  window: { location: { search: "" }, addEventListener() {} },
  _: (text) => text,
  _ready() {},
};
const scripts = ["base-stemmer.js", "english-stemmer.js", "language_data.js", "searchtools.js"];
const code = scripts
  .map((name) => path.join(root, "_static", name))
  .filter((file) => fs.existsSync(file))
  .map((file) => fs.readFileSync(file, "utf8"));
code.push("Search.setIndex = (index) => { Search._index = index; };");
code.push(fs.readFileSync(path.join(root, "searchindex.js"), "utf8"));
code.push("globalThis.ask = (query) => Search._performSearch(...Search._parseQuery(query)).reverse();");
scope.window = Object.assign(scope, scope.window);
const context = vm.createContext(scope);
vm.runInContext(code.join("\n;\n"), context);

const found = queries.map((query) => [query, context.ask(query).map(([name, , heading]) => name + heading)]);
console.log(JSON.stringify(Object.fromEntries(found)));
