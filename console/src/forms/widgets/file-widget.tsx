// A file that is no image, such as sound or a video: a URL, a run whose output it is, or a small file from this
// computer, which becomes part of the request.
import { Link } from "@tanstack/react-router";
import { FileIcon, Upload, X } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { formatBytes } from "../../format/bytes.ts";
import { Button } from "../../parts/button.tsx";
import { classNames } from "../../parts/class-names.ts";
import fieldStyles from "../../parts/field.module.css";
import { Icon } from "../../parts/icon.tsx";
import { RUN_DRAG_TYPE } from "../../parts/run-drag.ts";
import { text } from "../../text/text.ts";
import { ACCEPTED_MEDIA, dataUrlSize, inlineProblem, isDataUrl, readDataUrl } from "../file-input.ts";
import { parseReference, runIdOf } from "../image-input.ts";
import styles from "./image-widget.module.css";
import { asText, controlAttributes, type WidgetProps } from "./widget-props.ts";

export function FileWidget(props: WidgetProps) {
  const { field, value, onChange } = props;
  const [taken, setTaken] = useState<Pick<File, "name" | "size">>();
  const [problem, setProblem] = useState<string>();
  const take = async (file: File) => {
    const found = inlineProblem(file);
    setProblem(found);
    if (found) return;
    setTaken(file);
    onChange(await readDataUrl(file));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) return void take(file);
    const reference = referenceOf(
      event.dataTransfer.getData(RUN_DRAG_TYPE) || event.dataTransfer.getData("text/plain"),
    );
    if (reference !== "") onChange(reference);
  };
  const isChosen = isDataUrl(value) || runIdOf(value) !== undefined || (typeof value === "object" && value !== null);
  return (
    <fieldset
      aria-label={field.label}
      className={styles.file}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      {isChosen ? (
        <ChosenFile {...props} taken={taken} onRemove={() => onChange(undefined)} />
      ) : (
        <FileInput {...props} onFile={(file) => void take(file)} />
      )}
      {problem && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

/** The address of a run's page means the run. */
function referenceOf(words: string): string {
  const reference = parseReference(words);
  return reference?.kind === "run" ? reference.runId : words;
}

function FileInput({ onFile, ...props }: WidgetProps & { onFile(file: File): void }) {
  const { field, value, onChange } = props;
  const chooser = useRef<HTMLInputElement>(null);
  const kind = field.fileKind ?? "file";
  return (
    <div className={fieldStyles.row}>
      <input
        {...controlAttributes(props)}
        className={fieldStyles.input}
        placeholder={text.image.reference}
        value={asText(value)}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(referenceOf(event.target.value))}
      />
      <Button isIconOnly label={text.file.choose(field.label)} onClick={() => chooser.current?.click()}>
        <Icon of={Upload} />
      </Button>
      <input
        ref={chooser}
        type="file"
        hidden
        accept={ACCEPTED_MEDIA[kind]}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) onFile(file);
          target.value = "";
        }}
      />
    </div>
  );
}

type ChosenFileProps = WidgetProps & { taken: Pick<File, "name" | "size"> | undefined; onRemove(): void };

function ChosenFile({ id, field, value, taken, isBare, onRemove }: ChosenFileProps) {
  const runId = runIdOf(value);
  return (
    <div className={classNames(styles.preview, styles.framed)} id={id} tabIndex={-1}>
      <span className={styles.glyph}>
        <Icon of={FileIcon} size="l" />
      </span>
      <span className={styles.facts}>
        <span className={styles.title}>
          {runId ? (
            <Link to="/runs/$runId" params={{ runId }}>
              {text.image.fromRun(runId.slice(-8))}
            </Link>
          ) : isDataUrl(value) ? (
            // Within a list, the file that was taken here can have moved.
            taken?.size === dataUrlSize(value) ? (
              taken.name
            ) : (
              text.file.inline
            )
          ) : (
            JSON.stringify(value)
          )}
        </span>
        {isDataUrl(value) && <span className={styles.hint}>{formatBytes(dataUrlSize(value))}</span>}
      </span>
      {!isBare && (
        <Button kind="quiet" size="s" isIconOnly label={text.image.remove(field.label)} onClick={onRemove}>
          <Icon of={X} size="s" />
        </Button>
      )}
    </div>
  );
}
