// An image field without a value: a button to choose a file, and an input for a URL or a run ID.
import { ImageIcon } from "lucide-react";
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
  const [words, setWords] = useState("");
  return (
    <>
      <button
        type="button"
        className={styles.choose}
        aria-describedby={props.describedBy}
        onClick={() => chooser.current?.click()}
      >
        <span className={styles.glyph}>
          <Icon of={ImageIcon} size="l" />
        </span>
        <span>
          <span className={styles.title}>{uploading ? text.image.uploading(uploading) : text.image.drop}</span>
          <span className={styles.hint}>{text.image.dropHint}</span>
        </span>
      </button>
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
      <div className={styles.reference}>
        <input
          {...controlAttributes({ ...props })}
          className={fieldStyles.input}
          placeholder={accepts === "run" ? text.image.runReference : text.image.reference}
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
    </>
  );
}
