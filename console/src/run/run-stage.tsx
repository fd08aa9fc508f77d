// The stage: the image on a neutral ground, facts about its file, and the runs before and after this one.
import type { Run } from "@gesso/client";
import { useState } from "react";
import { text } from "../text/text.ts";
import { FailedRun } from "./failed-run.tsx";
import { FileFacts } from "./file-facts.tsx";
import { Lineage } from "./lineage.tsx";
import { OutputStrip } from "./output-strip.tsx";
import styles from "./run-stage.module.css";
import { StageMedia } from "./stage-media.tsx";
import { UnfinishedRun } from "./unfinished-run.tsx";

export function RunStage({ run }: { run: Run }) {
  const outputs = run.outputs.filter(({ role }) => role === "result");
  const [chosen, setChosen] = useState(0);
  const output = outputs[chosen] ?? outputs[0];
  const prompt = typeof run.inputs.prompt === "string" ? run.inputs.prompt : text.run.noPrompt;
  return (
    <section className={styles.stage} aria-label={prompt}>
      <div className={styles.hold}>
        {output ? (
          <StageMedia output={output} alt={prompt} />
        ) : run.status === "failed" || run.status === "canceled" ? (
          <FailedRun run={run} />
        ) : (
          <UnfinishedRun run={run} />
        )}
      </div>
      {outputs.length > 1 && <OutputStrip outputs={outputs} chosen={chosen} onChoose={setChosen} />}
      {output && <FileFacts output={output} run={run} />}
      <Lineage run={run} />
    </section>
  );
}
