// The image on a stage with what lies over it, moved and scaled by the view.
import type { ReactNode } from "react";
import { classNames } from "../parts/class-names.ts";
import { cssVariables } from "../parts/css-variables.ts";
import type { PaintedImage } from "./painted-image.ts";
import styles from "./stage.module.css";
import type { View } from "./view.ts";

/** At this zoom and above, pixels of the image are shown as squares. */
const SQUARE_PIXELS = 2;

type StagePictureProps = { image: PaintedImage; view: View; children?: ReactNode };

export function StagePicture({ image, view, children }: StagePictureProps) {
  const { url, alt, width, height } = image;
  const variables = cssVariables({
    "--x": `${view.x}px`,
    "--y": `${view.y}px`,
    "--zoom": String(view.zoom),
    "--width": `${width}px`,
    "--height": `${height}px`,
  });
  return (
    <figure ref={variables} className={classNames(styles.picture, view.zoom >= SQUARE_PIXELS && styles.squares)}>
      <img src={url} alt={alt} width={width} height={height} draggable={false} />
      {children}
    </figure>
  );
}
