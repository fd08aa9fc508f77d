// The stage of the mask: the image, the mask over it, and the tip of the brush. The mask is also reachable without a
// pointer, by the fields beside the stage.
import { useRef } from "react";
import { classNames } from "../parts/class-names.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import type { PointerSample } from "./gestures.ts";
import type { MaskDocument } from "./mask-document.ts";
import type { PaintedImage } from "./painted-image.ts";
import type { Point } from "./polygon.ts";
import styles from "./stage.module.css";
import { StagePicture } from "./stage-picture.tsx";
import { startToolStroke, type ToolPoint, type ToolStroke } from "./tools.ts";
import { useMaskOverlay } from "./use-mask-overlay.ts";
import type { Painting } from "./use-painting.ts";
import { useStagePointers } from "./use-stage-pointers.ts";
import type { StageView } from "./use-stage-view.ts";
import { toImagePoint } from "./view.ts";

type MaskStageProps = {
  image: PaintedImage;
  document: MaskDocument;
  painting: Painting;
  stage: StageView;
  /** The position of the pointer in pixels of the image. */
  onHover(position: Point | undefined): void;
};

/** A pen that touches lightly still paints a line. */
const LEAST_PRESSURE = 0.1;

export function MaskStage({ image, document, painting, stage, onHover }: MaskStageProps) {
  const { tool, settings, isMaskHidden } = painting;
  const { stageRef, view } = stage;
  const stroke = useRef<ToolStroke>(undefined);
  const tipRef = useRef<HTMLDivElement>(null);
  const outlineRef = useRef<SVGPolygonElement>(null);
  const canvasRef = useMaskOverlay({ document, ...settings, zoom: view.zoom });
  const toToolPoint = (sample: PointerSample): ToolPoint => ({
    ...toImagePoint(stage.current(), sample),
    pressure: sample.kind === "pen" ? Math.max(LEAST_PRESSURE, sample.pressure) : 1,
  });
  const finish = (isCommitted: boolean) => {
    if (isCommitted) stroke.current?.end();
    stroke.current = undefined;
    drawOutline(outlineRef.current, []);
    if (isCommitted) document.commit();
    else document.revert();
  };
  useStagePointers(stage, {
    startStroke(sample) {
      stroke.current = startToolStroke(document, { tool, brush: settings }, toToolPoint(sample));
    },
    continueStroke(samples) {
      for (const sample of samples) stroke.current?.add(toToolPoint(sample));
      drawOutline(outlineRef.current, stroke.current?.outline() ?? []);
    },
    endStroke: () => finish(true),
    cancelStroke: () => finish(false),
    moveBy: stage.moveBy,
    pinch: stage.pinch,
    isMoving: painting.isMoving,
    hover(point) {
      moveTip(tipRef.current, point);
      onHover(point && toImagePoint(stage.current(), point));
    },
  });
  const hasTip = tool === "brush" || tool === "eraser";
  return (
    <section ref={stageRef} className={classNames(styles.stage, styles[tool])} aria-label={text.paint.stage(image.alt)}>
      <StagePicture image={image} view={view}>
        <canvas
          ref={canvasRef}
          className={classNames(styles.layer, isMaskHidden && styles.hidden)}
          width={image.width}
          height={image.height}
        />
        <svg className={styles.layer} viewBox={`0 0 ${image.width} ${image.height}`} aria-hidden="true">
          <polygon ref={outlineRef} className={styles.outline} />
        </svg>
      </StagePicture>
      {hasTip && (
        <div className={styles.tipHolder} ref={tipRef} hidden>
          <div className={styles.tip} ref={cssVariables({ "--size": `${settings.size * view.zoom}px` })} />
        </div>
      )}
    </section>
  );
}

const drawOutline = (outline: SVGPolygonElement | null, points: readonly Point[]) =>
  outline?.setAttribute("points", points.map(({ x, y }) => `${x},${y}`).join(" "));

function moveTip(tip: HTMLElement | null, point: Point | undefined): void {
  if (!tip) return;
  tip.hidden = point === undefined;
  if (point) tip.style.setProperty("transform", `translate(${point.x}px, ${point.y}px)`);
}
