import type { ComponentChildren } from "preact";

/** Shows an error, and lets screen readers announce it immediately. Empty if there is no error. */
export function Fault({ children }: { children: ComponentChildren }) {
  return children ? (
    <p class="fault" role="alert">
      {children}
    </p>
  ) : null;
}
