/**
 * Nodes, links and flows as lists with buttons: all functions of the drawing, for the keyboard and the screen
 * reader.
 */

import { type Signal, useSignal } from "@preact/signals";
import { Options } from "../app/fields.tsx";
import { Name } from "../app/name.tsx";
import { Roving } from "../app/roving.tsx";
import { about } from "../app/state.ts";
import { algorithmSays } from "./complete.ts";
import { gist, Item } from "./form.tsx";
import type { Graph } from "./graph.ts";
import { tables } from "./network.ts";
import { written } from "./path.ts";
import { addFlow, addLink, chosen, removeNode, rename } from "./strokes.ts";
import { schemas, values } from "./values.ts";

/** The part of the form for the selection. */
export function Chosen() {
  const what = chosen.value;
  const known = schemas.value;
  if (!what || !known) {
    return <p class="quiet small hint">Choose a link, flow or node to change it.</p>;
  }
  if ("node" in what) {
    return <Node key={what.node} name={what.node} />;
  }
  const [section, index] = what.path;
  const field = known.fields(known.root, {}).find(({ key }) => key === section);
  const item = tables(values.value.now[String(section)])[Number(index)];
  return field && item ? (
    <Item key={written(what.path)} known={known} field={field} index={Number(index)} item={item} />
  ) : null;
}

function Node({ name }: { name: string }) {
  const draft = useSignal(name);
  return (
    <form
      class="node-part"
      onSubmit={(event) => {
        event.preventDefault();
        void rename(name, draft.value);
      }}
    >
      <label>
        Node <input type="text" value={draft.value} onInput={(event) => (draft.value = event.currentTarget.value)} />
      </label>
      <button type="submit" disabled={draft.value === name || draft.value.trim() === ""}>
        Rename
      </button>
      <button type="button" onClick={() => void removeNode(name)}>
        Remove with its links and flows
      </button>
    </form>
  );
}

export function Parts({ graph, isEditable }: { graph: Graph; isEditable: boolean }) {
  const names = graph.nodes.map(({ name }) => name);
  const links = isEditable ? graph.edges : [];
  return (
    <details class="parts">
      <summary>
        Nodes, links and flows as lists <span class="quiet">({names.length} nodes)</span>
      </summary>
      <datalist id="part-names">
        {names.slice(0, 500).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {isEditable && (
        <>
          <Adder verb="Add link" add={(from, to) => addLink(from, to)} />
          <Roving label="Nodes and links">
            <ul class="choices">
              {names.map((name) => (
                <li key={name}>
                  <button type="button" aria-pressed={isChosen(name)} onClick={() => (chosen.value = { node: name })}>
                    <Name name={name} />
                  </button>
                </li>
              ))}
              {links.map(({ id, from, to, index = 0 }) => (
                <li key={id}>
                  <button
                    type="button"
                    aria-pressed={isChosen(id)}
                    onClick={() => (chosen.value = { path: ["links", index] })}
                  >
                    <code>{id}</code> <Name name={`${from} – ${to}`} />
                  </button>
                </li>
              ))}
            </ul>
          </Roving>
        </>
      )}
      <Adder verb="Add flow" hasAlgorithm add={(from, to, algorithm) => addFlow(from, to, algorithm)} />
      <Roving label="Flows">
        <ul class="choices">
          {tables(values.value.now.flows).map((flow, index) => (
            <li key={index}>
              <button
                type="button"
                aria-pressed={isChosen(`flows[${index}]`)}
                onClick={() => (chosen.value = { path: ["flows", index] })}
              >
                <code>flows[{index}]</code> <Name name={gist("flows", flow)} />
              </button>
            </li>
          ))}
        </ul>
      </Roving>
    </details>
  );
}

function isChosen(name: string): boolean {
  const what = chosen.value;
  return what !== undefined && ("node" in what ? what.node === name : written(what.path) === name);
}

interface AdderProps {
  verb: string;
  hasAlgorithm?: boolean;
  add(from: string, to: string, algorithm: string): Promise<void>;
}

/** Two endpoints, and for a flow its algorithm with a description. */
export function Adder({ verb, hasAlgorithm = false, add }: AdderProps) {
  const from = useSignal("");
  const to = useSignal("");
  const algorithm = useSignal("");
  return (
    <form
      class="adder"
      onSubmit={(event) => {
        event.preventDefault();
        void add(from.value.trim(), to.value.trim(), algorithm.value);
      }}
    >
      <End word="From" name={from} />
      <End word="to" name={to} />
      {hasAlgorithm && (
        <label>
          by{" "}
          <select value={algorithm.value} onChange={(event) => (algorithm.value = event.currentTarget.value)}>
            <option value="">the default</option>
            <Options options={(about.value?.congestion ?? []).map(({ name }) => name)} />
          </select>
        </label>
      )}
      <button type="submit" disabled={!from.value.trim() || !to.value.trim() || from.value.trim() === to.value.trim()}>
        {verb}
      </button>
      {algorithm.value && <p class="help">{algorithmSays(algorithm.value)}</p>}
    </form>
  );
}

function End({ word, name }: { word: string; name: Signal<string> }) {
  return (
    <label>
      {word}{" "}
      <input
        type="text"
        list="part-names"
        value={name.value}
        onInput={(event) => (name.value = event.currentTarget.value)}
      />
    </label>
  );
}
