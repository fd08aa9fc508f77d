// An image: dropped, pasted, chosen, or named by a URL or a run. A file is uploaded at once, so that the value is a
// short reference: the price can be estimated, and a second press of Run sends the same request.
import type { DragEvent } from "react";
import { useState } from "react";
import { classNames } from "../../parts/class-names.ts";
import { RUN_DRAG_TYPE } from "../../parts/run-drag.ts";
import { text } from "../../text/text.ts";
import { parseReference } from "../image-input.ts";
import { useImageUpload } from "../use-image-upload.ts";
import { EmptyImage } from "./empty-image.tsx";
import { ImagePreview } from "./image-preview.tsx";
import styles from "./image-widget.module.css";
import type { WidgetProps } from "./widget-props.ts";

export function ImageWidget(props: WidgetProps) {
  const { field, value, onChange } = props;
  const accepts = field.accepts ?? "image";
  const [isOver, setIsOver] = useState(false);
  const { uploading, problem, upload, refer } = useImageUpload(accepts, onChange);
  const take = (transfer: DataTransfer): boolean => {
    const [file] = transfer.files;
    const words = transfer.getData(RUN_DRAG_TYPE) || transfer.getData("text/plain");
    if (file) void upload(file);
    else if (parseReference(words)) void refer(words);
    return Boolean(file) || parseReference(words) !== undefined;
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    take(event.dataTransfer);
  };
  return (
    <fieldset
      aria-label={field.label}
      className={classNames(styles.drop, isOver && styles.over, problem && styles.bad)}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
      onPaste={(event) => {
        if (take(event.clipboardData)) event.preventDefault();
      }}
    >
      {value === undefined ? (
        <EmptyImage {...props} accepts={accepts} uploading={uploading} onFile={upload} onReference={refer} />
      ) : (
        <ImagePreview id={props.id} value={value} label={field.label} onRemove={() => onChange(undefined)} />
      )}
      {problem && (
        <p className={styles.problem} role="alert">
          {problem === "reference" ? text.image.badReference : problem}
        </p>
      )}
    </fieldset>
  );
}
