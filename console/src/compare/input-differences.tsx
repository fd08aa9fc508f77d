// The inputs of two runs that differ, then model, cost and time. Equal inputs are shown on demand.
import type { Run } from "@gesso/client";
import { useState } from "react";
import { formatMoney } from "../format/money.ts";
import { formatDuration, millisecondsBetween } from "../format/time.ts";
import { Button } from "../parts/button.tsx";
import { text } from "../text/text.ts";
import { differencesOf, type InputDifference } from "./compare-items.ts";
import styles from "./compare-page.module.css";

const words = text.compare;

/** Uploads and runs of earlier versions have no `given`. */
const inputsOf = ({ given, inputs, model }: Run) => ({ ...(given ?? inputs), model });

export function InputDifferences({ first, second }: { first: Run; second: Run }) {
  const [isWhole, setIsWhole] = useState(false);
  const all = differencesOf(inputsOf(first), inputsOf(second));
  const shown = isWhole ? all : all.filter(({ isDifferent }) => isDifferent);
  return (
    <>
      <div className={styles.head}>
        <h2>{words.differs}</h2>
        {all.some(({ isDifferent }) => !isDifferent) && (
          <Button kind="quiet" size="s" aria-pressed={isWhole} onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? words.showDifferent : words.showAll(all.length)}
          </Button>
        )}
      </div>
      {shown.length === 0 && <p className={styles.equal}>{words.equal}</p>}
      <dl>
        {shown.map((difference) => (
          <DifferenceRow key={difference.field} {...difference} field={labelOf(difference.field)} />
        ))}
        <DifferenceRow field={words.cost} first={costOf(first)} second={costOf(second)} isDifferent={false} />
        <DifferenceRow field={words.time} first={timeOf(first)} second={timeOf(second)} isDifferent={false} />
      </dl>
    </>
  );
}

function DifferenceRow({ field, first, second, isDifferent }: InputDifference) {
  return (
    <div className={styles.field}>
      <dt>{field}</dt>
      <dd className={styles.pair}>
        <b>A</b>
        <InputValue value={first} />
        <b>B</b>
        {isDifferent && isSet(second) ? (
          <ins>
            <InputValue value={second} />
          </ins>
        ) : (
          <InputValue value={second} />
        )}
      </dd>
    </div>
  );
}

/** A signed URL says little, so only its file is shown. */
function InputValue({ value }: { value: unknown }) {
  if (!isSet(value)) return <span className={styles.unset}>{words.notSet}</span>;
  const whole = typeof value === "string" ? value : JSON.stringify(value);
  const [, file] = STORED_FILE.exec(whole) ?? [];
  return <span title={file && whole}>{file ? words.file(file.slice(-8)) : whole}</span>;
}

const STORED_FILE = /^https?:\/\/[^/]+\/files\/([\da-f-]{36})\//;
const isSet = (value: unknown) => value !== undefined && value !== null;

/** `mask_image_url` as "Mask image url". */
const labelOf = (field: string) => field.charAt(0).toUpperCase() + field.slice(1).replaceAll("_", " ");

const costOf = ({ cost }: Run) => (cost ? formatMoney(cost.amount) : "–");
const timeOf = ({ created_at, finished_at }: Run) =>
  finished_at ? formatDuration(millisecondsBetween(created_at, finished_at)) : "–";
