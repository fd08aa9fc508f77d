// The form of Make: operation, models, fields, price and the button that starts the runs. Errors land at their fields.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useId, useState } from "react";
import { INPUT, inputErrors, inputOf, modelNameOf } from "../any-model/input-of.ts";
import { findMissingText } from "../any-model/model-values.ts";
import { useChosenModel } from "../any-model/use-chosen-model.ts";
import { identityQuery, monthSpendQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import {
  type FieldErrors,
  fieldErrorsOf,
  firstInvalidField,
  NO_ERRORS,
  withoutChanged,
} from "../forms/field-errors.ts";
import { focusField } from "../forms/focus-field.ts";
import { parseJsonObject } from "../forms/json-text.ts";
import { type FormField, isAnyModel } from "../forms/operation-forms.ts";
import { RequestCode } from "../forms/request-code.tsx";
import { classNames } from "../parts/class-names.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import fieldStyles from "../parts/field.module.css";
import { Notice } from "../parts/notice.tsx";
import { PricedButton } from "../parts/priced-button.tsx";
import { useStableCallback } from "../parts/use-stable-callback.ts";
import { text } from "../text/text.ts";
import type { AcceptedRun } from "./call-operation.ts";
import { type Draft, requestsOf } from "./draft.ts";
import { DraftFields } from "./draft-fields.tsx";
import { FormHead, type FormView } from "./form-head.tsx";
import styles from "./make-form.module.css";
import type { Price } from "./price-sum.ts";
import { withSharedCap } from "./shared-cap.ts";
import { usePrice } from "./use-price.ts";
import { useStartRuns } from "./use-start-runs.ts";

type MakeFormProps = { draft: Draft; onChange(draft: Draft): void; onChooseOperation(name: string): void };

export function MakeForm({ draft, onChange, onChooseOperation }: MakeFormProps) {
  const { form } = draft;
  const [view, setView] = useState<FormView>("form");
  const [errors, setErrors] = useState<FieldErrors>(NO_ERRORS);
  const anyModel = useChosenModel(isAnyModel(form) ? modelNameOf(draft.values) : undefined);
  const price = usePrice(draft, anyModel.fields);
  const start = useStartRuns();
  const change = (next: Draft) => {
    const isSameModels = next.furtherModels === draft.furtherModels;
    setErrors(isSameModels ? withoutChanged(errors, draft.values, next.values) : NO_ERRORS);
    onChange(next);
  };
  const showErrors = (error: unknown) => {
    const found = fieldErrorsOf(error);
    setErrors(found);
    const names = form.fields.map(({ name }) => name);
    const first = firstInvalidField(found, names);
    const inner = anyModel.fields.map(({ name }) => name);
    const place = first === INPUT ? [INPUT, firstInvalidField(inputErrors(found), inner)] : [first];
    if (first) setView("form");
    // After the render that unfolds the section of the field.
    if (first) setTimeout(() => focusField(...place.filter((name) => name !== undefined)));
  };
  const submit = (event: FormEvent) => {
    // Dialogs that the form opens stand elsewhere in the page, but their events come here.
    if (event.target !== event.currentTarget) return;
    event.preventDefault();
    setErrors(NO_ERRORS);
    start.mutate(withSharedCap(requestsOf(draft), price.amounts), { onError: showErrors });
  };
  const choose = useStableCallback((name: string) => {
    setErrors(NO_ERRORS);
    start.reset();
    onChooseOperation(name);
  });
  return (
    <form
      className={styles.form}
      aria-label={form.label}
      noValidate
      onSubmit={submit}
      onKeyDown={keepEnterFromSubmitting}
    >
      <FormHead form={form} view={view} onView={setView} onChooseOperation={choose} />
      <div className={classNames(fieldStyles.stack, styles.fields)}>
        <FormNotices
          error={errors.size > 0 || isFieldError(start.error) ? null : start.error}
          errors={errors}
          accepted={start.data ?? []}
        />
        {view === "form" && <DraftFields draft={draft} errors={errors} onChange={change} />}
        {view === "json" && <RequestJson key={form.name} draft={draft} onChange={change} />}
        {view === "code" && <RequestCode form={form} input={draft.values} />}
      </div>
      <RunFooter draft={draft} modelFields={anyModel.fields} price={price} isStarting={start.isPending} />
    </form>
  );
}

/** Errors of fields stand at the fields, until those change. */
const isFieldError = (error: unknown) => fieldErrorsOf(error).size > 0;

/** Enter in a field must not spend money; only the button and its shortcut do. */
function keepEnterFromSubmitting(event: KeyboardEvent<HTMLFormElement>): void {
  const isInput = event.target instanceof HTMLInputElement && event.currentTarget.contains(event.target);
  if (event.key === "Enter" && isInput && !event.ctrlKey && !event.metaKey) event.preventDefault();
}

type FormNoticesProps = { error: Error | null; errors: FieldErrors; accepted: readonly AcceptedRun[] };

/** What became of the last request: refused, refused because of fields, or already started before. */
function FormNotices({ error, errors, accepted }: FormNoticesProps) {
  if (errors.size > 0) return <Notice kind="bad" title={text.form.invalid(countFields(errors))} />;
  if (error) return <ErrorNotice error={error} />;
  if (accepted.some(({ isReplay }) => isReplay)) return <Notice kind="info" title={text.make.replayed} />;
  return null;
}

/** Fields of an imported model count one by one. */
const countFields = (errors: FieldErrors) =>
  [...errors.keys()].filter((name) => name !== INPUT).length +
  Math.max(inputErrors(errors).size, errors.has(INPUT) ? 1 : 0);

type RunFooterProps = { draft: Draft; modelFields: readonly FormField[]; price: Price; isStarting: boolean };

/** What must be entered before anything else, as the button says it. */
function findMissing({ form, values }: Draft, modelFields: readonly FormField[]): string | undefined {
  if (isAnyModel(form)) {
    if (modelNameOf(values) === undefined) return text.anyModel.chooseFirst;
    const field = findMissingText(modelFields, inputOf(values));
    return field && text.make.enterPrompt(field.label);
  }
  const field = form.fields.find(({ name, isRequired, isLong }) => isRequired && isLong && values[name] === undefined);
  return field && text.make.enterPrompt(field.label);
}

function priceText({ amount, isIncomplete }: Pick<Price, "amount" | "isIncomplete">): string {
  if (amount === undefined) return "…";
  if (isIncomplete) return text.make.priceLater;
  if (amount === null) return text.make.priceUnknown;
  return amount === 0 ? text.make.free : formatMoney(amount);
}

/** What the draft costs and why, and the button that starts it. */
function RunFooter({ draft, modelFields, price, isStarting }: RunFooterProps) {
  const missing = findMissing(draft, modelFields);
  const count = requestsOf(draft).length;
  const words = count > 1 ? text.make.runOn(count) : text.make.run;
  return (
    <div className={styles.foot}>
      <PriceLine price={price} />
      <PricedButton
        label={missing ?? (isStarting ? text.make.running : words)}
        price={priceText(price)}
        isDisabled={missing !== undefined}
      />
    </div>
  );
}

/** What the price on the button is made of, and what is left of the month's limit. */
function PriceLine({ price }: { price: Price }) {
  const { data: identity } = useQuery(identityQuery);
  const limit = identity?.tenant.limits.spend_per_month ?? null;
  const { data: spent } = useQuery({ ...monthSpendQuery, enabled: limit !== null });
  return (
    <p className={styles.priceLine}>
      <span className="clip">{sayBasis(price)}</span>
      {limit !== null && spent !== undefined && (
        <span>{text.make.leftThisMonth(formatMoney(Math.max(0, limit - spent)))}</span>
      )}
    </p>
  );
}

function sayBasis({ basis, isIncomplete, isBound }: Price): string {
  const [first] = basis;
  if (isIncomplete) return text.make.priceIncomplete;
  if (isBound) return text.make.priceAtMost;
  if (!first || first.unit_price === null) return "";
  const quantity = basis.reduce((sum, each) => sum + each.quantity, 0);
  const isUniform = basis.every(({ unit_price }) => unit_price === first.unit_price);
  const product = isUniform
    ? text.make.priceBasis(quantity, formatMoney(first.unit_price))
    : basis
        .map(({ unit_price }) => (unit_price === null ? text.make.priceUnknown : formatMoney(unit_price)))
        .join(" + ");
  return [product, first.price_version && text.make.priceList(first.price_version)].filter(Boolean).join(" · ");
}

type RequestJsonProps = { draft: Draft; onChange(draft: Draft): void };

/** The values of the form as JSON, for those who paste a request. Valid text changes the form at once. */
function RequestJson({ draft, onChange }: RequestJsonProps) {
  const id = useId();
  const [words, setWords] = useState(() => JSON.stringify(draft.values, null, 2));
  const isInvalid = parseJsonObject(words) === undefined;
  return (
    <div className={fieldStyles.field}>
      <label className={fieldStyles.label} htmlFor={id}>
        {text.form.json}
      </label>
      <textarea
        id={id}
        className={classNames(fieldStyles.area, fieldStyles.code)}
        rows={16}
        spellCheck={false}
        value={words}
        aria-invalid={isInvalid}
        onChange={({ target }) => {
          setWords(target.value);
          const values = parseJsonObject(target.value);
          if (values) onChange({ ...draft, values });
        }}
      />
      {isInvalid && <p className={fieldStyles.error}>{text.form.jsonInvalid}</p>}
    </div>
  );
}
