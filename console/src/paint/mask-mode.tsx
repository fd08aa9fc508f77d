// Paints a mask and edits what is inside it. When the edit is completed, its result stands beside the original.
import { useMemo, useRef, useState } from "react";
import { BrushSection } from "./brush-section.tsx";
import { EditSection } from "./edit-section.tsx";
import { FindSection } from "./find-section.tsx";
import { MaskBarActions } from "./mask-bar-actions.tsx";
import type { MaskDocument } from "./mask-document.ts";
import { MaskSection } from "./mask-section.tsx";
import { MaskStage } from "./mask-stage.tsx";
import { PaintBar } from "./paint-bar.tsx";
import styles from "./paint-page.module.css";
import type { PaintedImage } from "./painted-image.ts";
import panelStyles from "./panel.module.css";
import type { Point } from "./polygon.ts";
import { ResultBanner } from "./result-banner.tsx";
import { ResultView } from "./result-view.tsx";
import { StatusBar } from "./status-bar.tsx";
import { ToolRail } from "./tool-rail.tsx";
import { useMaskedEdit } from "./use-masked-edit.ts";
import { useOpenRun } from "./use-open-run.ts";
import { usePaintKeys } from "./use-paint-keys.ts";
import { usePainting } from "./use-painting.ts";
import { useStageView } from "./use-stage-view.ts";

type MaskModeProps = { image: PaintedImage; document: MaskDocument };

export function MaskMode({ image, document }: MaskModeProps) {
  const painting = usePainting();
  const stage = useStageView(image);
  const editing = useMaskedEdit({ image, document });
  const [shownRunId, setShownRunId] = useState<string>();
  const run = useOpenRun(editing.started?.runId, ({ run_id }) => setShownRunId(run_id));
  const positionRef = useRef<HTMLSpanElement>(null);
  const showPosition = useMemo(() => (point: Point | undefined) => writePosition(positionRef.current, point), []);
  usePaintKeys({ document, painting, stage });
  const isResultShown = run !== undefined && shownRunId === run.run_id;
  return (
    <>
      <PaintBar image={image} mode="mask">
        <MaskBarActions document={document} fileName={`mask-${image.runId.slice(-8)}.png`} />
      </PaintBar>
      <ToolRail document={document} painting={painting} />
      <div className={styles.workspace}>
        <div className={styles.below} inert={isResultShown}>
          <MaskStage image={image} document={document} painting={painting} stage={stage} onHover={showPosition} />
        </div>
        {isResultShown && (
          <ResultView
            image={image}
            run={run}
            maskRunId={editing.started?.maskRunId}
            onBack={() => setShownRunId(undefined)}
          />
        )}
      </div>
      <aside className={panelStyles.panel}>
        <div className={panelStyles.sections}>
          <FindSection document={document} image={image} />
          <BrushSection painting={painting} />
          <MaskSection document={document} painting={painting} />
          <EditSection image={image} document={document} editing={editing}>
            {run && !isResultShown && <ResultBanner run={run} onShow={() => setShownRunId(run.run_id)} />}
          </EditSection>
        </div>
      </aside>
      <StatusBar stage={stage} size={image} tool={painting.tool} positionRef={positionRef} />
    </>
  );
}

function writePosition(target: HTMLElement | null, point: Point | undefined): void {
  if (target) target.textContent = point ? `${Math.floor(point.x)}, ${Math.floor(point.y)}` : "";
}
