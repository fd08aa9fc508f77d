// What the rules of the contract and the chosen model make of each field: required, fixed to a value, limited to some
// values, or unused.
import type { FormValues } from "./form-values.ts";
import type { FormRule, ModelRow, OperationForm } from "./operation-forms.ts";

export type FieldState = {
  isRequired: boolean;
  /** The model does not use the field; Gesso would ignore it with a warning. */
  isUnused: boolean;
  /** The only value that the model takes. */
  fixedValue?: unknown;
  options?: readonly unknown[];
  minItems?: number;
  maxItems?: number;
};

type StateContext = { form: OperationForm; values: FormValues; models: Readonly<Record<string, ModelRow>> };

/** The value that applies: the user's, or the default of the contract. */
const effectiveValue = (form: OperationForm, values: FormValues, name: string): unknown =>
  values[name] ?? form.fields.find((field) => field.name === name)?.default;

export function fieldStates(context: StateContext): ReadonlyMap<string, FieldState> {
  const { form } = context;
  const isUnused = unusedFields(context);
  const states = new Map<string, FieldState>(
    form.fields.map(({ name, isRequired = false }) => [name, { isRequired, isUnused: isUnused.has(name) }]),
  );
  for (const rule of form.rules) applyRule(states, rule, context);
  return states;
}

/** The states of a form for several models at once: a field counts as required if one of the models requires it. */
export function mergedFieldStates(
  context: Omit<StateContext, "values">,
  inputs: readonly FormValues[],
): ReadonlyMap<string, FieldState> {
  const all = inputs.map((values) => fieldStates({ ...context, values }));
  const [first = new Map<string, FieldState>(), ...others] = all;
  return new Map(
    [...first].map(([name, state]) => {
      const rest = others.flatMap((states) => states.get(name) ?? []);
      return [name, rest.reduce(mergeStates, state)];
    }),
  );
}

function mergeStates(a: FieldState, b: FieldState): FieldState {
  const isFixed = a.fixedValue !== undefined && a.fixedValue === b.fixedValue;
  const { fixedValue, ...rest } = a;
  return {
    ...rest,
    isRequired: a.isRequired || b.isRequired,
    isUnused: a.isUnused && b.isUnused,
    ...(isFixed && { fixedValue }),
  };
}

/** Whether a request has every field that the contract and the model demand. Values are not checked. */
export function isComplete(context: StateContext): boolean {
  const { form, values } = context;
  const states = fieldStates(context);
  const has = (name: string) => values[name] !== undefined;
  const isMissing = form.fields.some(({ name, default: preset }) => {
    return states.get(name)?.isRequired && !has(name) && preset === undefined;
  });
  const choices = form.rules.flatMap(({ oneOf, anyOf }) => [oneOf, anyOf].filter((each) => each !== undefined));
  return !isMissing && choices.every((choice) => choice.some(({ required = [] }) => required.every(has)));
}

/** The chosen model of a form; undefined if the operation has no choice of models. */
export function chosenModel(form: OperationForm, values: FormValues): string | undefined {
  const field = form.fields.find(({ isModel }) => isModel);
  return field && (effectiveValue(form, values, field.name) as string | undefined);
}

function unusedFields({ form, values, models }: StateContext): Set<string> {
  const model = chosenModel(form, values);
  const row = model === undefined ? undefined : models[model];
  if (!row) return new Set();
  const modelFields = new Set(Object.values(models).flatMap(({ usedFields }) => usedFields));
  return new Set([...modelFields].filter((name) => !row.usedFields.includes(name)));
}

function applyRule(states: Map<string, FieldState>, rule: FormRule, context: StateContext): void {
  const { form, values } = context;
  if (rule.if && rule.then) {
    const conditions = Object.entries(rule.if.properties ?? {});
    const holds = conditions.every(([name, { const: only }]) => effectiveValue(form, values, name) === only);
    if (holds) applyRule(states, rule.then, context);
    return;
  }
  const dependent = Object.entries(rule.dependentRequired ?? {}).flatMap(([name, others]) =>
    values[name] === undefined ? [] : others,
  );
  for (const name of [...(rule.required ?? []), ...dependent]) change(states, name, { isRequired: true });
  for (const [name, { const: fixedValue, enum: options, minItems, maxItems }] of Object.entries(
    rule.properties ?? {},
  )) {
    change(states, name, {
      ...(fixedValue !== undefined && { fixedValue }),
      ...(options && { options }),
      ...(minItems !== undefined && { minItems }),
      ...(maxItems !== undefined && { maxItems }),
    });
  }
}

function change(states: Map<string, FieldState>, name: string, changes: Partial<FieldState>): void {
  const state = states.get(name);
  if (state) states.set(name, { ...state, ...changes });
}
