// The parameters of an offer: required ones bold, ignored ones struck through. Each says in words what happens to it.
import { classNames } from "../parts/class-names.ts";
import { text } from "../text/text.ts";
import styles from "./models-page.module.css";
import type { ShownParameter } from "./offer-parameters.ts";

type ParameterChipsProps = { parameters: readonly ShownParameter[]; most?: number };

export function ParameterChips({ parameters, most = Number.POSITIVE_INFINITY }: ParameterChipsProps) {
  const hidden = parameters.length - most;
  return (
    <span className={styles.parameters}>
      {parameters.slice(0, most).map((parameter) => (
        <ParameterChip key={parameter.name} parameter={parameter} />
      ))}
      {hidden > 0 && <span className={styles.moreParameters}>{text.models.moreParameters(hidden)}</span>}
    </span>
  );
}

function ParameterChip({ parameter }: { parameter: ShownParameter }) {
  const { name, state, how, isRequired } = parameter;
  const states: Record<string, string> = text.models.parameterStates;
  const isIgnored = state === "unsupported" || state === "excluded";
  const says = [isRequired && states.required, states[state] ?? state, how].filter(Boolean).join(" · ");
  const className = classNames(styles.parameter, isRequired && styles.required, isIgnored && styles.ignored);
  return (
    <span className={className} title={says}>
      {isIgnored ? <del>{name}</del> : name}
    </span>
  );
}
