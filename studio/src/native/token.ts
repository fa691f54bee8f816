/** The token of `lightlag studio`: it comes in the fragment of the address, alone or behind a shared scenario. */

const KEY = "lightlag-token";

/** The token of a fragment, `#token=T` or `#a.….&token=T`, and the fragment without it. */
export function split(fragment: string): { token: string | undefined; rest: string } {
  const found = /([#&])token=([\w-]+)$/.exec(fragment);
  return found ? { token: found[2], rest: fragment.slice(0, found.index) } : { token: undefined, rest: fragment };
}

/**
 * Takes the token out of the address bar, and keeps it for reloads of this tab. Undefined: the page came from no
 * `lightlag studio`.
 */
export function takeToken(): string | undefined {
  const { token, rest } = split(location.hash);
  if (token === undefined) {
    return kept();
  }
  history.replaceState(history.state, "", `${location.pathname}${location.search}${rest}`);
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // A tab without storage needs the address again after a reload.
  }
  return token;
}

/** Starts the page again when an address with another token is opened in its tab. */
export function followToken(): void {
  addEventListener("hashchange", () => {
    if (split(location.hash).token !== undefined) {
      takeToken();
      location.reload();
    }
  });
}

/** Forgets a token that no server knows any more. */
export function forgetToken(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}

function kept(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
