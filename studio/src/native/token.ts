/** The token of `lightlag studio`: in the fragment of the address, alone or after a shared scenario. */

const KEY = "lightlag-token";

/** Splits a fragment, `#token=T` or `#a.….&token=T`, into the token and the rest. */
export function split(fragment: string): { token: string | undefined; rest: string } {
  const found = /([#&])token=([\w-]+)$/.exec(fragment);
  return found ? { token: found[2], rest: fragment.slice(0, found.index) } : { token: undefined, rest: fragment };
}

/**
 * Removes the token from the address bar, and keeps it for reloads of this tab. Returns undefined if the page was not
 * served by `lightlag studio`.
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

/** Reloads the page when an address with another token is opened in its tab. */
export function followToken(): void {
  addEventListener("hashchange", () => {
    if (split(location.hash).token !== undefined) {
      takeToken();
      location.reload();
    }
  });
}

/** Removes a token that is no longer valid. */
export function forgetToken(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was stored.
  }
}

function kept(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
