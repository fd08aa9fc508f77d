// Changes the frame of the image: the fields of the operation, and a frame on the stage that can be dragged.
import { type FormEvent, useState } from "react";
import { fieldErrorsOf, NO_ERRORS } from "../forms/field-errors.ts";
import type { FormValues } from "../forms/form-values.ts";
import { findOperationForm } from "../forms/operation-forms.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { usePrice } from "../make/use-price.ts";
import { useStartRuns } from "../make/use-start-runs.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { PricedButton } from "../parts/priced-button.tsx";
import { text } from "../text/text.ts";
import { edgesOfFrame, frameOfValues, withoutEdges } from "./frame.ts";
import { sourceFieldsOf, sourceValues } from "./mask-edits.ts";
import { PaintBar } from "./paint-bar.tsx";
import styles from "./paint-page.module.css";
import type { PaintedImage } from "./painted-image.ts";
import panelStyles from "./panel.module.css";
import { priceLabel } from "./price-label.ts";
import { ReframeStage } from "./reframe-stage.tsx";
import { ResultBanner } from "./result-banner.tsx";
import { ResultView } from "./result-view.tsx";
import { StatusBar } from "./status-bar.tsx";
import { useOpenRun } from "./use-open-run.ts";
import { useStageView } from "./use-stage-view.ts";

const FORM = findOperationForm("images.reframe");
const SOURCE_FIELD = "run_id";
const RATIO_FIELD = "aspect_ratio";
const WITHOUT = sourceFieldsOf(FORM);

export function ReframeMode({ image }: { image: PaintedImage }) {
  const [values, setValues] = useState<FormValues>({});
  const [runId, setRunId] = useState<string>();
  const [shownRunId, setShownRunId] = useState<string>();
  const frame = frameOfValues(image, values);
  const stage = useStageView(frame ? { width: frame.width, height: frame.height } : image);
  const input = { ...values, ...sourceValues(FORM, SOURCE_FIELD, image) };
  // Every ratio has the same price, so it can stand on the button before one is chosen.
  const price = usePrice({ form: FORM, values: { [RATIO_FIELD]: "1:1", ...input }, furtherModels: [] });
  const start = useStartRuns();
  const run = useOpenRun(runId, ({ run_id }) => setShownRunId(run_id));
  const hasRatio = values[RATIO_FIELD] !== undefined;
  const change = (next: FormValues) => setValues(next[RATIO_FIELD] === values[RATIO_FIELD] ? next : withoutEdges(next));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate([{ operation: FORM.name, model: undefined, input }], {
      onSuccess: ([accepted]) => setRunId(accepted?.runId),
    });
  };
  const errors = start.error ? fieldErrorsOf(start.error) : NO_ERRORS;
  const isResultShown = run !== undefined && shownRunId === run.run_id;
  return (
    <>
      <PaintBar image={image} mode="reframe" />
      <div className={styles.wideDesk}>
        <div className={styles.below} inert={isResultShown}>
          <ReframeStage
            image={image}
            frame={frame}
            stage={stage}
            onMove={(next) => setValues({ ...values, ...edgesOfFrame(next) })}
          />
        </div>
        {isResultShown && <ResultView image={image} run={run} onBack={() => setShownRunId(undefined)} />}
      </div>
      <form className={panelStyles.panel} aria-label={FORM.title} onSubmit={submit} noValidate>
        <div className={panelStyles.sections}>
          <div className={panelStyles.fields}>
            <p className={panelStyles.hint}>{text.paint.reframe.hint}</p>
            <SchemaForm form={FORM} values={values} errors={errors} without={WITHOUT} onChange={change} />
            {start.error && errors.size === 0 && <ErrorNotice error={start.error} />}
          </div>
          <div className={panelStyles.foot}>
            {run && !isResultShown && <ResultBanner run={run} onShow={() => setShownRunId(run.run_id)} />}
            <PricedButton
              label={hasRatio ? text.paint.reframe.submit : text.paint.reframe.ratioFirst}
              price={priceLabel(price)}
              isDisabled={!hasRatio}
            />
          </div>
        </div>
      </form>
      <StatusBar stage={stage} size={frame ?? image} />
    </>
  );
}
