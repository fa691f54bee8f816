import { accountOf } from "../run/facts.ts";
import { SaveMenu } from "../save/menu.tsx";

/** The button that saves. */
export default function Saving() {
  return <SaveMenu account={accountOf} />;
}
