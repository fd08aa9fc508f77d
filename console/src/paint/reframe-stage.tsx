// The image within its new frame. Dragging moves the frame; the hatched part is what the model fills.
import { useRef } from "react";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import { moveFrame } from "./frame.ts";
import type { PointerSample } from "./gestures.ts";
import type { PixelRectangle } from "./mask.ts";
import type { PaintedImage } from "./painted-image.ts";
import styles from "./stage.module.css";
import { StagePicture } from "./stage-picture.tsx";
import { useStagePointers } from "./use-stage-pointers.ts";
import type { StageView } from "./use-stage-view.ts";

type ReframeStageProps = {
  image: PaintedImage;
  frame: PixelRectangle | undefined;
  stage: StageView;
  onMove(frame: PixelRectangle): void;
};

const WHOLE = { x: 0, y: 0 };

export function ReframeStage({ image, frame, stage, onMove }: ReframeStageProps) {
  const { stageRef, view } = stage;
  const start = useRef<{ sample: PointerSample; frame: PixelRectangle }>(undefined);
  useStagePointers(stage, {
    startStroke(sample) {
      start.current = frame && { sample, frame };
    },
    continueStroke(samples) {
      const last = samples.at(-1);
      if (!start.current || !last) return;
      const { sample, frame: first } = start.current;
      // The frame stays on the stage, so the image moves with the pointer and the frame against it.
      const by = { x: (sample.x - last.x) / view.zoom, y: (sample.y - last.y) / view.zoom };
      onMove(moveFrame(image, first, by));
    },
    endStroke: () => {},
    cancelStroke: () => start.current && onMove(start.current.frame),
    moveBy: stage.moveBy,
    pinch: stage.pinch,
    isMoving: () => false,
    hover: () => {},
  });
  // The view shows the frame; the image lies within it.
  const { x, y } = frame ?? WHOLE;
  const imageView = { zoom: view.zoom, x: view.x - x * view.zoom, y: view.y - y * view.zoom };
  return (
    <section ref={stageRef} className={styles.stage} aria-label={text.paint.stage(image.alt)}>
      {frame && (
        <div
          className={styles.frame}
          ref={cssVariables({
            "--left": `${view.x}px`,
            "--top": `${view.y}px`,
            "--frame-width": `${frame.width * view.zoom}px`,
            "--frame-height": `${frame.height * view.zoom}px`,
            "--zoom": "1",
          })}
        />
      )}
      <StagePicture image={image} view={imageView} />
    </section>
  );
}
