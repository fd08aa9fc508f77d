// All files of a run with several, to choose the one on the stage.
import type { Output } from "@gesso/client";
import { text } from "../text/text.ts";
import styles from "./run-stage.module.css";

type OutputStripProps = { outputs: readonly Output[]; chosen: number; onChoose(index: number): void };

export function OutputStrip({ outputs, chosen, onChoose }: OutputStripProps) {
  return (
    <div className={styles.strip}>
      {outputs.map((output, index) => (
        <button
          key={output.asset_id}
          type="button"
          className={styles.thumbnail}
          aria-pressed={index === chosen}
          aria-label={text.run.output(index + 1, outputs.length)}
          onClick={() => onChoose(index)}
        >
          {output.media_type.startsWith("image/") && <img src={output.url} alt="" width={84} height={56} />}
        </button>
      ))}
    </div>
  );
}
