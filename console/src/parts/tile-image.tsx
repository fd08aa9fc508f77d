// The image of a tile: first its blurred placeholder, then the small copy fades in. A video shows its first frame and
// its length.
import { AudioLines, File, Play } from "lucide-react";
import { useState } from "react";
import { extensionOf, sizeAttributes } from "../format/file-facts.ts";
import { formatVideoLength } from "../format/time.ts";
import { classNames } from "./class-names.ts";
import { Icon } from "./icon.tsx";
import styles from "./run-tile.module.css";
import { type OutputWithThumbnails, placeholderOf, tileUrlOf } from "./thumbnails.ts";

/** `shownWidth`: in CSS pixels, where it is known. */
type TileImageProps = { output: OutputWithThumbnails; alt: string; shownWidth?: number };

export function TileImage({ output, alt, shownWidth }: TileImageProps) {
  const [isLoaded, setIsLoaded] = useState(false);
  const url = tileUrlOf(output, shownWidth);
  const placeholder = placeholderOf(output);
  return (
    <>
      {placeholder && <img className={styles.placeholder} src={placeholder} alt="" />}
      {url ? (
        <img
          className={classNames(styles.image, placeholder && !isLoaded && styles.loading)}
          src={url}
          alt={alt}
          {...sizeAttributes(output)}
          loading="lazy"
          decoding="async"
          onLoad={() => setIsLoaded(true)}
        />
      ) : output.media_type.startsWith("video/") ? (
        <video className={styles.image} src={output.url} muted preload="metadata" aria-label={alt} />
      ) : (
        <span className={styles.file} role="img" aria-label={alt}>
          <Icon of={output.media_type.startsWith("audio/") ? AudioLines : File} size="l" />
          {extensionOf(output).toUpperCase()}
        </span>
      )}
      {output.media_type.startsWith("video/") && (
        <span className={styles.tag}>
          <Icon of={Play} size="s" />
          {formatVideoLength(output.duration ?? 0)}
        </span>
      )}
    </>
  );
}
