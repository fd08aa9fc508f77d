// Finds an object by words and adds it to the mask. The search is a run of its own, so it has a price and stays in the
// history.
import { type FormEvent, useState } from "react";
import { findOperationForm } from "../forms/operation-forms.ts";
import { usePrice } from "../make/use-price.ts";
import { useStartRuns } from "../make/use-start-runs.ts";
import { Button } from "../parts/button.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import fieldStyles from "../parts/field.module.css";
import { Notice } from "../parts/notice.tsx";
import { runStateName } from "../parts/run-states.ts";
import { Segments } from "../parts/segments.tsx";
import { loadMaskValues } from "../pixels/load-pixels.ts";
import { text } from "../text/text.ts";
import { type CombineMode, combineMasks, wholeOf } from "./mask.ts";
import type { MaskDocument } from "./mask-document.ts";
import { sourceValues } from "./mask-edits.ts";
import type { PaintedImage } from "./painted-image.ts";
import styles from "./panel.module.css";
import { priceLabel } from "./price-label.ts";
import { useOpenRun } from "./use-open-run.ts";

export const FIND_INPUT_ID = "paint-find";

const FORM = findOperationForm("images.segmentImage");
const WORDS_FIELD = "prompt";
const SOURCE_FIELD = "run_id";
const MAX_LENGTH = FORM.fields.find(({ name }) => name === WORDS_FIELD)?.maxLength;
const COMBINE_MODES = ["add", "subtract", "replace"] as const satisfies readonly CombineMode[];

type FindSectionProps = { document: MaskDocument; image: PaintedImage };

export function FindSection({ document, image }: FindSectionProps) {
  const [words, setWords] = useState("");
  const [mode, setMode] = useState<CombineMode>("add");
  const { find, price, isFinding, error } = useFind({ document, image, words: words.trim(), mode });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (words.trim() !== "" && !isFinding) find();
  };
  const labels = text.paint.find;
  return (
    <section className={styles.section}>
      <h2>
        <label htmlFor={FIND_INPUT_ID}>{labels.title}</label>
      </h2>
      <form className={fieldStyles.row} onSubmit={submit}>
        <input
          id={FIND_INPUT_ID}
          className={fieldStyles.input}
          value={words}
          maxLength={MAX_LENGTH}
          placeholder={labels.placeholder}
          autoComplete="off"
          onChange={({ target }) => setWords(target.value)}
        />
        <Button type="submit" disabled={words.trim() === "" || isFinding}>
          {isFinding ? labels.finding : labels.submit}
        </Button>
      </form>
      <div className={styles.row}>
        <Segments
          label={labels.combine}
          isSmall
          options={COMBINE_MODES.map((id) => ({ id, label: labels.modes[id] }))}
          value={mode}
          onChange={(id) => setMode(COMBINE_MODES.find((each) => each === id) ?? "add")}
        />
        <span className={styles.aside}>{priceLabel(price)}</span>
      </div>
      {error}
    </section>
  );
}

type FindOptions = { document: MaskDocument; image: PaintedImage; words: string; mode: CombineMode };

function useFind({ document, image, words, mode }: FindOptions) {
  const [runId, setRunId] = useState<string>();
  const [readError, setReadError] = useState<unknown>();
  const start = useStartRuns();
  const values = { ...(words && { [WORDS_FIELD]: words }), ...sourceValues(FORM, SOURCE_FIELD, image) };
  const price = usePrice({ form: FORM, values, furtherModels: [] });
  const run = useOpenRun(runId, ({ outputs, image_url }) => {
    setRunId(undefined);
    const url = outputs.find(({ role }) => role === "result")?.url ?? image_url;
    if (!url) return;
    loadMaskValues(url, document.mask)
      .then((found) =>
        document.change((mask) => {
          combineMasks(mask, found, mode);
          return wholeOf(mask);
        }),
      )
      .catch(setReadError);
  });
  const find = () => {
    setReadError(undefined);
    const request = { operation: FORM.name, model: undefined, input: values };
    start.mutate([request], { onSuccess: ([accepted]) => setRunId(accepted?.runId) });
  };
  const hasEnded = run?.status === "failed" || run?.status === "canceled";
  const failure = start.error ?? readError;
  return {
    find,
    price,
    isFinding: start.isPending || (runId !== undefined && !hasEnded),
    error: failure ? (
      <ErrorNotice error={failure} />
    ) : hasEnded ? (
      <Notice kind="bad" title={run.error?.message ?? text.run.states[runStateName(run.status)]} />
    ) : null,
  };
}
