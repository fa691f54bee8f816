import { render } from "preact";
import { Shell } from "./app/shell.tsx";
import { applyTheme } from "./app/theme.ts";

applyTheme();
const root = document.getElementById("app");
if (root) {
  render(<Shell />, root);
}
