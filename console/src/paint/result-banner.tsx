// The edit that was started last: its progress, or the way to its result.
import type { Run } from "@gesso/client";
import { Button } from "../parts/button.tsx";
import { text } from "../text/text.ts";
import styles from "./panel.module.css";
import { RunProgress } from "./run-progress.tsx";

export function ResultBanner({ run, onShow }: { run: Run; onShow(): void }) {
  return (
    <section className={styles.banner} aria-label={text.paint.result.title}>
      {run.status === "completed" ? (
        <Button onClick={onShow}>{text.paint.result.show}</Button>
      ) : (
        <RunProgress run={run} />
      )}
    </section>
  );
}
