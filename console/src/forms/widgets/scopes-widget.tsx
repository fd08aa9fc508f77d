// The scopes of a key: everything, everything to read, or some. Only scopes that the own credential has can be chosen.
import { useQuery } from "@tanstack/react-query";
import { identityQuery } from "../../api/queries.ts";
import { Segments } from "../../parts/segments.tsx";
import { text } from "../../text/text.ts";
import { ALL_SCOPES, isGrantable, READ_SCOPES, scopeChoice, scopeRows, toggleScope } from "../scopes.ts";
import type { WidgetProps } from "./widget-props.ts";
import styles from "./widgets.module.css";

const PRESETS = { all: [ALL_SCOPES], read: [READ_SCOPES], some: [] };

export function ScopesWidget({ id, field, value, onChange }: WidgetProps) {
  const { data: identity } = useQuery(identityQuery);
  const scopes = Array.isArray(value) ? value.map(String) : [];
  const choice = scopeChoice(scopes);
  const granted = identity?.credential.scopes ?? [];
  const box = (scope: string | undefined, label: string) =>
    scope && (
      <input
        type="checkbox"
        className={styles.check}
        aria-label={label}
        checked={scopes.includes(scope)}
        disabled={!isGrantable(granted, scope)}
        onChange={() => onChange(toggleScope(scopes, scope))}
      />
    );
  return (
    <div id={id} className={styles.list} tabIndex={-1}>
      <Segments
        label={field.label}
        isFilling
        options={Object.entries(text.form.scopeChoices).map(([own, label]) => ({ id: own, label }))}
        value={choice}
        onChange={(next) => onChange(PRESETS[next as keyof typeof PRESETS])}
      />
      {choice === "some" && (
        <table className={styles.scopes}>
          <thead>
            <tr>
              <th scope="col">{text.form.scopeResource}</th>
              <th scope="col">{text.form.scopeRead}</th>
              <th scope="col">{text.form.scopeWrite}</th>
            </tr>
          </thead>
          <tbody>
            {scopeRows((field.options ?? []).map(String)).map(({ resource, read, write }) => (
              <tr key={resource}>
                <th scope="row">{resource}</th>
                <td>{box(read, `${resource}: ${text.form.scopeRead}`)}</td>
                <td>{box(write, `${resource}: ${text.form.scopeWrite}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
