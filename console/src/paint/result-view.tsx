// The result of an edit beside the original, with what changed outside the mask.
import type { Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, Columns2 } from "lucide-react";
import { sizeAttributes } from "../format/file-facts.ts";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { Icon } from "../parts/icon.tsx";
import { OutsideMask } from "../pixels/outside-mask.tsx";
import { text } from "../text/text.ts";
import type { PaintedImage } from "./painted-image.ts";
import styles from "./result-view.module.css";

type ResultViewProps = {
  image: PaintedImage;
  run: Run;
  /** The run of the mask; undefined for an edit without one. */
  maskRunId?: string | undefined;
  onBack(): void;
};

export function ResultView({ image, run, maskRunId, onBack }: ResultViewProps) {
  const output = run.outputs.find(({ media_type }) => media_type.startsWith("image/"));
  const words = text.paint.result;
  return (
    <section ref={showOnPhone} className={styles.result} aria-label={words.title}>
      <div className={styles.images}>
        <figure>
          <img src={image.url} alt={words.original} width={image.width} height={image.height} />
          <figcaption>{words.original}</figcaption>
        </figure>
        {output && (
          <figure>
            <img src={output.url} alt={words.result} {...sizeAttributes(output)} />
            <figcaption>{words.result}</figcaption>
          </figure>
        )}
      </div>
      <div className={styles.bar}>
        {output && maskRunId && (
          <OutsideMask original={image.url} result={output.url} mask={{ runId: maskRunId, outputIndex: 0 }} />
        )}
        <div className={styles.actions}>
          <Button onClick={onBack}>
            <Icon of={ArrowLeft} />
            {words.back}
          </Button>
          <Link
            to="/compare"
            search={{ items: `${image.runId},${run.run_id}` }}
            className={buttonClass({ kind: "quiet" })}
          >
            <Icon of={Columns2} />
            {words.compare}
          </Link>
          <Link to="/runs/$runId" params={{ runId: run.run_id }} className={buttonClass({ kind: "quiet" })}>
            {words.open}
          </Link>
          <Link to="/paint/$runId" params={{ runId: run.run_id }} className={buttonClass({ kind: "quiet" })}>
            {words.paint}
          </Link>
        </div>
      </div>
    </section>
  );
}

/** On a phone, the button that started the edit is far below the stage. */
const showOnPhone = (result: HTMLElement | null) => result?.scrollIntoView({ block: "nearest" });
