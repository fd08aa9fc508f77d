// An image field without a value: a button to choose a file, and an input for a URL or a run ID on request.
import { ImageIcon, Link2 } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "../../parts/button.tsx";
import fieldStyles from "../../parts/field.module.css";
import { Icon } from "../../parts/icon.tsx";
import { text } from "../../text/text.ts";
import { ACCEPTED_FILES } from "../image-input.ts";
import styles from "./image-widget.module.css";
import { controlAttributes, type WidgetProps } from "./widget-props.ts";

type EmptyImageProps = WidgetProps & {
  accepts: "image" | "url" | "run";
  uploading: string | undefined;
  onFile(file: File): Promise<void>;
  onReference(words: string): Promise<void>;
};

export function EmptyImage({ accepts, uploading, onFile, onReference, ...props }: EmptyImageProps) {
  const chooser = useRef<HTMLInputElement>(null);
  const title = uploading ? text.image.uploading(uploading) : text.image.drop;
  const [isEntering, setIsEntering] = useState(accepts === "run");
  return (
    <>
      <div className={styles.row}>
        <button
          type="button"
          id={props.id}
          className={styles.choose}
          aria-label={`${props.field.label}: ${title} ${text.image.dropHint}`}
          aria-describedby={props.describedBy}
          onClick={() => chooser.current?.click()}
        >
          <span className={styles.glyph}>
            <Icon of={ImageIcon} size="l" />
          </span>
          <span className={styles.facts}>
            <span className={styles.title}>{title}</span> <span className={styles.hint}>{text.image.dropHint}</span>
          </span>
        </button>
        <Button
          kind="quiet"
          size="s"
          isIconOnly
          label={text.image.enter}
          aria-expanded={isEntering}
          onClick={() => setIsEntering(!isEntering)}
        >
          <Icon of={Link2} />
        </Button>
      </div>
      <input
        ref={chooser}
        type="file"
        hidden
        accept={ACCEPTED_FILES}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void onFile(file);
          target.value = "";
        }}
      />
      {isEntering && <ReferenceInput {...props} accepts={accepts} onReference={onReference} />}
    </>
  );
}

type ReferenceInputProps = WidgetProps & {
  accepts: "image" | "url" | "run";
  onReference(words: string): Promise<void>;
};

/** The input of an image field for a URL or the ID of a run. */
function ReferenceInput({ accepts, onReference, ...props }: ReferenceInputProps) {
  const [words, setWords] = useState("");
  const placeholder = accepts === "run" ? text.image.runReference : text.image.reference;
  return (
    <div className={styles.reference}>
      <input
        {...controlAttributes(props)}
        id={`${props.id}-reference`}
        className={fieldStyles.input}
        aria-label={`${props.field.label}: ${placeholder}`}
        placeholder={placeholder}
        value={words}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.metaKey || event.ctrlKey || words === "") return;
          event.preventDefault();
          void onReference(words);
        }}
      />
      {words !== "" && <Button onClick={() => void onReference(words)}>{text.image.use}</Button>}
    </div>
  );
}
