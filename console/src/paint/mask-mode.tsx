// Paints a mask and edits what is inside it. When the edit is completed, its result stands beside the original.
import { Download, Redo2, Undo2 } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { MAX_SIZE, MIN_SIZE } from "./brush-settings.ts";
import { EditSection } from "./edit-section.tsx";
import { FindSection } from "./find-section.tsx";
import type { MaskDocument } from "./mask-document.ts";
import { encodeMaskPng } from "./mask-png.ts";
import { MaskSection } from "./mask-section.tsx";
import { MaskStage } from "./mask-stage.tsx";
import { PaintBar } from "./paint-bar.tsx";
import styles from "./paint-page.module.css";
import type { PaintedImage } from "./painted-image.ts";
import panelStyles from "./panel.module.css";
import type { Point } from "./polygon.ts";
import { PropertySlider } from "./property-slider.tsx";
import { ResultBanner } from "./result-banner.tsx";
import { ResultView } from "./result-view.tsx";
import { StatusBar } from "./status-bar.tsx";
import { ToolRail } from "./tool-rail.tsx";
import { useMaskState } from "./use-mask-state.ts";
import { useMaskedEdit } from "./use-masked-edit.ts";
import { useOpenRun } from "./use-open-run.ts";
import { usePaintKeys } from "./use-paint-keys.ts";
import { type Painting, usePainting } from "./use-painting.ts";
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

/** The slider ends here, because most brushes are small; the field takes larger ones. */
const SLIDER_SIZE = 400;

/** Size and hardness of the brush. */
function BrushSection({ painting }: { painting: Painting }) {
  const { settings, changeSettings } = painting;
  return (
    <section className={panelStyles.section}>
      <h2>{text.paint.brush.title}</h2>
      <PropertySlider
        label={text.paint.brush.size}
        unit="px"
        value={settings.size}
        minimum={MIN_SIZE}
        maximum={MAX_SIZE}
        sliderMaximum={SLIDER_SIZE}
        onChange={(size) => changeSettings({ size })}
      />
      <PropertySlider
        label={text.paint.brush.hardness}
        unit="%"
        value={settings.hardness}
        minimum={0}
        maximum={100}
        onChange={(hardness) => changeSettings({ hardness })}
      />
    </section>
  );
}

type MaskBarActionsProps = { document: MaskDocument; fileName: string };

/** Undo, redo and saving the mask as a file. */
function MaskBarActions({ document: mask, fileName }: MaskBarActionsProps) {
  const { canUndo, canRedo } = useMaskState(mask);
  return (
    <>
      <Button kind="quiet" isIconOnly label={text.paint.undo} disabled={!canUndo} onClick={mask.undo}>
        <Icon of={Undo2} />
      </Button>
      <Button kind="quiet" isIconOnly label={text.paint.redo} disabled={!canRedo} onClick={mask.redo}>
        <Icon of={Redo2} />
      </Button>
      <Button label={text.paint.saveMask} onClick={() => void saveMask(mask, fileName)}>
        <Icon of={Download} />
        <span className={styles.words}>{text.paint.saveMask}</span>
      </Button>
    </>
  );
}

async function saveMask({ mask }: MaskDocument, fileName: string): Promise<void> {
  const url = URL.createObjectURL(await encodeMaskPng(mask));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
