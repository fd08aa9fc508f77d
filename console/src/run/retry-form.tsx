// "Try again" with its price, and the choice of another model.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { catalogueQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { listModelNames } from "../forms/model-offers.ts";
import { buttonClass } from "../parts/button-class.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import field from "../parts/field.module.css";
import { useShortcuts } from "../parts/use-shortcuts.ts";
import { text } from "../text/text.ts";
import styles from "./failed-run.module.css";
import { type RetryChoice, useRetry, useRetryPrice } from "./retry-run.ts";

const words = text.runPage.failed;

type RetryFormProps = { run: Run; choice: RetryChoice };

export function RetryForm({ run, choice }: RetryFormProps) {
  const id = useId();
  const [model, setModel] = useState(run.model ?? "");
  const isSameModel = model === (run.model ?? "");
  const { data: catalogue } = useQuery(catalogueQuery);
  const models = choice.field ? listModelNames(catalogue, choice.form.name, choice.models) : [];
  const changes = choice.field && !isSameModel ? { [choice.field]: model } : {};
  const { data: price, isError } = useRetryPrice(run, choice, changes);
  const { mutate, isPending, error } = useRetry(run);
  const retry = () => {
    if (!isPending) mutate(changes);
  };
  useShortcuts({ r: retry });
  const amount = isError || price?.amount === null ? text.make.priceUnknown : price && priceText(price.amount ?? 0);
  return (
    <>
      {models.length > 1 && (
        <div className={field.field}>
          <label className={field.label} htmlFor={id}>
            {words.model}
          </label>
          <select id={id} className={field.input} value={model} onChange={({ target }) => setModel(target.value)}>
            {withModelOf(run, models).map((each) => (
              <option key={each} value={each}>
                {each === run.model ? words.sameModel(each) : each}
              </option>
            ))}
          </select>
        </div>
      )}
      <button type="button" className={styles.retry} onClick={retry} aria-disabled={isPending} aria-keyshortcuts="R">
        <span>{isPending ? words.retrying : isSameModel ? words.retry : words.retryOn(model)}</span>
        <span className={styles.price}>{amount ?? "…"}</span>
        <kbd>R</kbd>
      </button>
      {error && <ErrorNotice error={error} />}
      <Link to="/" search={{ from: run.run_id }} className={buttonClass()}>
        {words.editInputs}
      </Link>
    </>
  );
}

const priceText = (amount: number) => (amount === 0 ? text.make.free : formatMoney(amount));

const withModelOf = ({ model }: Run, models: readonly string[]) =>
  model && !models.includes(model) ? [model, ...models] : models;
