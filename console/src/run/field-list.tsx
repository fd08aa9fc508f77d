// Names and values of fields. Values are text, whatever they contain.
import styles from "./inputs-tab.module.css";

const asText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function FieldList({ fields }: { fields: Record<string, unknown> }) {
  return (
    <dl className={styles.fields}>
      {Object.entries(fields).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{asText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
