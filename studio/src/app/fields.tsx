/** Form controls. */

/** The options of a selection list: keywords, or values with their labels. */
export function Options({ options }: { options: readonly (string | readonly [value: string, name: string])[] }) {
  return options.map((one) => {
    const [value, name] = typeof one === "string" ? [one, one] : one;
    return (
      <option key={value} value={value}>
        {name}
      </option>
    );
  });
}

/** A checkbox with its label. */
export function Tick({ name, isOn, tick }: { name: string; isOn: boolean; tick: (isOn: boolean) => void }) {
  return (
    <label>
      <input type="checkbox" checked={isOn} onInput={({ currentTarget }) => tick(currentTarget.checked)} />
      {name}
    </label>
  );
}

interface Crossed {
  /** Accessible name. */
  label: string;
  act: () => void;
  look?: string;
  title?: string;
}

/** A button with a cross, which removes or closes the element around it. */
export function Cross({ label, act, look = "icon", title }: Crossed) {
  return (
    <button type="button" class={look} aria-label={label} title={title} onClick={act}>
      ×
    </button>
  );
}
