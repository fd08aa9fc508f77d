// The request of a run as code to copy.
import type { Run } from "@gesso/client";
import { useState } from "react";
import { CODE_LANGUAGES, type CodeLanguage, sampleOf } from "../forms/code-samples.ts";
import { OPERATION_FORMS } from "../forms/operation-forms.ts";
import { findFormOfRun } from "../forms/operation-of-run.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Segments } from "../parts/segments.tsx";
import { text } from "../text/text.ts";
import styles from "./code-tab.module.css";

export function CodeTab({ run }: { run: Run }) {
  const [language, setLanguage] = useState<CodeLanguage>("typescript");
  const form = findFormOfRun(OPERATION_FORMS, run);
  if (!form || !run.given) return <p>{text.run.inputs.none}</p>;
  const sample = sampleOf(language, { form, input: run.given, origin: location.origin });
  return (
    <>
      <div className={styles.head}>
        <Segments
          label={text.run.tabs.code}
          isSmall
          options={CODE_LANGUAGES.map((id) => ({ id, label: text.run.code[id] }))}
          value={language}
          onChange={(id) => setLanguage(CODE_LANGUAGES.find((each) => each === id) ?? "typescript")}
        />
        <CopyButton value={sample} label={text.common.copy} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre className={styles.code} tabIndex={0}>
        {sample}
      </pre>
      <p className={styles.note}>{text.runPage.code.note}</p>
    </>
  );
}
