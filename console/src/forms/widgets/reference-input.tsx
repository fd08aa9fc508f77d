// The input of an image field for a URL or the ID of a run.
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import fieldStyles from "../../parts/field.module.css";
import { text } from "../../text/text.ts";
import styles from "./image-widget.module.css";
import { controlAttributes, type WidgetProps } from "./widget-props.ts";

type ReferenceInputProps = WidgetProps & {
  accepts: "image" | "url" | "run";
  onReference(words: string): Promise<void>;
};

export function ReferenceInput({ accepts, onReference, ...props }: ReferenceInputProps) {
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
