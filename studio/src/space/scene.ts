/** Lifecycle of a scene in a view: opened for a run, styled with the theme, closed with the view. */

import { effect, type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isDark } from "../app/theme.ts";
import type { Watched } from "../app/watched.ts";
import type { Door } from "../engine/protocol.ts";
import { hasWebGL } from "./stage.ts";

/** A 3-D scene. */
interface Scene {
  restyle(): void;
  close(): void;
}

/**
 * Opens the scene of a run, with its own engine, in a container of the page; opens it again after each restart of the
 * run.
 */
export function useScene<S extends Scene>(
  live: Watched,
  open: (container: HTMLElement, own: Door) => Promise<S>,
): { host: RefObject<HTMLDivElement | null>; scene: { current: S | undefined }; fault: Signal<string | undefined> } {
  const host = useRef<HTMLDivElement>(null);
  const scene = useRef<S | undefined>(undefined);
  const fault = useSignal<string | undefined>(undefined);
  const round = live.round.value;
  useEffect(() => {
    const container = host.current;
    if (!container || !hasWebGL()) {
      return;
    }
    const own = live.door();
    let isGone = false;
    open(container, own).then(
      (opened) => {
        if (isGone) {
          opened.close();
          return;
        }
        scene.current = opened;
      },
      (error: unknown) => {
        fault.value = isGone ? undefined : error instanceof Error ? error.message : String(error);
      },
    );
    const ends = effect(() => {
      isDark();
      queueMicrotask(() => scene.current?.restyle());
    });
    return () => {
      isGone = true;
      ends();
      scene.current?.close();
      scene.current = undefined;
      own.close();
    };
  }, [live, round]);
  return { host, scene, fault };
}
