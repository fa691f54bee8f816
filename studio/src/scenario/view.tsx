import { presets } from "../app/presets.ts";
import { take, toml } from "../app/state.ts";

/** The scenario: presets and text. */
export default function ScenarioView() {
  return (
    <section>
      <label>
        Preset
        <select onChange={(event) => take(presets.find(({ name }) => name === event.currentTarget.value)?.toml ?? "")}>
          {presets.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <textarea
        aria-label="Scenario in TOML"
        rows={40}
        cols={100}
        value={toml.value}
        onInput={(event) => {
          toml.value = event.currentTarget.value;
        }}
      />
    </section>
  );
}
