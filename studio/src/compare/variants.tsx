/** The variants: ready-made changes as buttons, and each variant with its changes. */

import { useSignal } from "@preact/signals";
import { type Variant, variants } from "../app/state.ts";
import { keyOf } from "./campaign.ts";
import { add, campaign, type Entry, entries, MOST, offered, offeredKeys, remove, replace } from "./course.ts";
import { Mark } from "./marks.tsx";
import type { Offer } from "./offers.ts";

export function Variants() {
  const chosen = useSignal("congestion");
  const offer = offered.value.find(({ key }) => key === chosen.value);
  return (
    <section class="variants panel" aria-labelledby="variants">
      <h2 id="variants">Variants</h2>
      <div class="offer">
        <label for="vary">Vary</label>
        <select id="vary" value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {offered.value.map(({ key, name }) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
          <option value="any">Any key</option>
        </select>
        {chosen.value === "any" ? <AnyKey /> : offer && <Values offer={offer} />}
      </div>
      <ol class="entries">
        {entries.value.map((entry, at) => (
          <Row key={at} entry={entry} at={at} />
        ))}
      </ol>
      <div class="add">
        <button type="button" disabled={isFull()} onClick={() => add({ name: "unchanged", sets: [] })}>
          Add the unchanged scenario
        </button>
        <span class="quiet">
          {variants.value.length} of {MOST} variants
        </span>
      </div>
    </section>
  );
}

function isFull(): boolean {
  return variants.value.length >= MOST;
}

function same({ sets }: Variant, other: Variant["sets"]): boolean {
  return JSON.stringify(sets) === JSON.stringify(other);
}

/** The values of a predefined change, as buttons; a button is pressed if a variant has this change. */
function Values({ offer }: { offer: Offer }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has no flow of its own here
    <div class="values" role="group" aria-label={offer.name}>
      {offer.values.map((value) => {
        const sets = offer.sets(value);
        const at = variants.value.findIndex((variant) => same(variant, sets));
        return (
          <button
            key={value}
            type="button"
            aria-pressed={at >= 0}
            disabled={at < 0 && (isFull() || sets.length === 0)}
            onClick={() => (at >= 0 ? remove(at) : add({ name: value, sets }))}
          >
            {value}
          </button>
        );
      })}
    </div>
  );
}

/** A form that adds a variant with a value of any key. */
function AnyKey() {
  const key = useSignal("");
  const value = useSignal("");
  const isReady = key.value.trim() !== "" && value.value.trim() !== "" && !isFull();
  return (
    <form
      class="any"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) {
          add({
            name: `${key.value.split(".").at(-1)} ${value.value}`,
            sets: [[key.value.trim(), value.value.trim()]],
          });
          value.value = "";
        }
      }}
    >
      <input
        type="text"
        list="keys"
        aria-label="Key"
        placeholder="links.1.loss"
        value={key}
        onInput={(event) => (key.value = event.currentTarget.value)}
      />
      <span aria-hidden="true">=</span>
      <input
        type="text"
        aria-label="Value"
        placeholder="1e-3"
        value={value}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
      <button type="submit" disabled={!isReady}>
        Add
      </button>
      <Keys />
    </form>
  );
}

function Keys() {
  return (
    <datalist id="keys">
      {offeredKeys.value.map((key) => (
        <option key={key} value={key} />
      ))}
    </datalist>
  );
}

function Row({ entry, at }: { entry: Entry; at: number }) {
  const { variant, problems, name } = entry;
  const fault = campaign.faults.value.get(keyOf(entry.input));
  const change = (index: number, part: [string, string]) =>
    replace(at, { ...variant, sets: variant.sets.map((old, other) => (other === index ? part : old)) });
  return (
    <li class="entry">
      <Mark index={at} />
      <input
        type="text"
        class="name"
        aria-label={`Name of variant ${at + 1}`}
        value={variant.name}
        onInput={(event) => replace(at, { ...variant, name: event.currentTarget.value })}
      />
      <div class="sets">
        {variant.sets.length === 0 && <span class="quiet">no change</span>}
        {variant.sets.map(([path, value], index) => (
          <div class="set" key={index}>
            <input
              type="text"
              class="mono"
              list="all-keys"
              aria-label={`Key ${index + 1} of ${name}`}
              value={path}
              onInput={(event) => change(index, [event.currentTarget.value, value])}
            />
            <span aria-hidden="true">=</span>
            <input
              type="text"
              class="mono"
              aria-label={`Value of ${path} of ${name}`}
              value={value}
              onInput={(event) => change(index, [path, event.currentTarget.value])}
            />
            <button
              type="button"
              class="icon"
              aria-label={`Remove ${path} of ${name}`}
              onClick={() => replace(at, { ...variant, sets: variant.sets.filter((_, other) => other !== index) })}
            >
              ×
            </button>
          </div>
        ))}
        {problems.map(({ path, message }) => (
          <p class="message bad" role="alert" key={message}>
            {path}: {message}
          </p>
        ))}
        {fault && (
          <p class="message bad" role="alert">
            {fault}
          </p>
        )}
      </div>
      <div class="acts">
        <button
          type="button"
          class="plain"
          onClick={() => replace(at, { ...variant, sets: [...variant.sets, ["", ""]] })}
        >
          + change
        </button>
        <button type="button" class="icon" aria-label={`Remove variant ${name}`} onClick={() => remove(at)}>
          ×
        </button>
      </div>
    </li>
  );
}
