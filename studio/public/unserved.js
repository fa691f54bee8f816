/*
 * Browsers load no modules from files, so a page that was opened as a file can only explain how to open it. This is a
 * classic script, which browsers do load. The command serves the directory above the page, which in a published site has
 * the documentation as well.
 */
addEventListener("DOMContentLoaded", () => {
  if (location.protocol !== "file:") {
    return;
  }
  const note = document.createElement("main");
  note.style.cssText = "max-width: 40rem; margin: 3rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif";
  const add = (kind, text) => {
    const line = document.createElement(kind);
    line.textContent = text;
    line.style.cssText = kind === "pre" ? "white-space: pre-wrap; overflow-wrap: anywhere" : "";
    note.append(line);
  };
  const [page, folder] = location.pathname.split("/").reverse();
  const above = decodeURIComponent(new URL("..", location.href).pathname).replace(/\/$/, "");
  add("h1", "The simulator needs a web server");
  add("p", "Browsers do not run it from files. A server on this machine is enough. In a terminal:");
  add("pre", `python3 -m http.server --bind 127.0.0.1 --directory "${above}"`);
  if (window.top === window) {
    add("p", "Then open:");
    add("pre", `http://127.0.0.1:8000/${folder}/${page}${location.search}${location.hash}`);
  } else {
    add("p", "Then open http://127.0.0.1:8000/ and go to this page.");
  }
  add("p", "If the package is installed, the command lightlag studio opens the studio without these steps.");
  document.body.replaceChildren(note);
});
