import { render } from "preact";
import { keepChecking } from "./app/checking.ts";
import { Shell } from "./app/shell.tsx";
import { applyTheme } from "./app/theme.ts";

applyTheme();
keepChecking();
const root = document.getElementById("app");
if (root) {
  render(<Shell />, root);
}
