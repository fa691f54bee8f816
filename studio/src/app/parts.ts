/** Parts of other views, for the first screen. They are loaded when they are first needed. */

export const network = () => import("../run/topology.tsx");
export const runs = () => import("../run/open.ts");
export const facts = () => import("../run/facts.ts");
export const presetCards = () => import("../scenario/cards.tsx");
export const importing = () => import("../scenario/imports.tsx");
