import { effect } from "@preact/signals";
import { render } from "preact";
import { keepChecking } from "./app/checking.ts";
import { Shell } from "./app/shell.tsx";
import { title } from "./app/state.ts";
import { applyTheme } from "./app/theme.ts";
import { keepHistory } from "./app/undo.ts";
import { followToken, takeToken } from "./native/token.ts";
import { keepOffline } from "./offline/register.ts";
import { keepLinks, openLink } from "./share/opening.ts";

applyTheme();
followToken();
const token = takeToken();
keepOffline(token !== undefined);
if (token !== undefined) {
  await (await import("./native/start.ts")).start(token);
}
await openLink();
keepLinks();
keepChecking();
keepHistory();
effect(() => {
  document.title = `${title.value} – lightlag studio`;
});
const root = document.getElementById("app");
if (root) {
  render(<Shell />, root);
}
