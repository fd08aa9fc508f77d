// The file on the stage: an image, or a video with controls.
import type { Output } from "@gesso/client";
import styles from "./run-stage.module.css";

type StageMediaProps = { output: Output; alt: string };

export function StageMedia({ output, alt }: StageMediaProps) {
  return output.media_type.startsWith("video/") ? (
    // biome-ignore lint/a11y/useMediaCaption: made videos have no captions; the prompt is the label
    <video className={styles.media} src={output.url} controls loop aria-label={alt} />
  ) : (
    <img className={styles.media} src={output.url} alt={alt} width={output.width} height={output.height} />
  );
}
