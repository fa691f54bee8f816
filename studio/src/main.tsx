import { render } from "preact";
import { keepChecking } from "./app/checking.ts";
import { Shell } from "./app/shell.tsx";
import { applyTheme } from "./app/theme.ts";
import { keepHistory } from "./app/undo.ts";

applyTheme();
keepChecking();
keepHistory();
const root = document.getElementById("app");
if (root) {
  render(<Shell />, root);
}
