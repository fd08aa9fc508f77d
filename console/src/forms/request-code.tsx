// A request as code to copy.
import { useState } from "react";
import { CopyButton } from "../parts/copy-button.tsx";
import { Segments } from "../parts/segments.tsx";
import { text } from "../text/text.ts";
import { CODE_LANGUAGES, type CodeLanguage, sampleOf } from "./code-samples.ts";
import type { FormValues } from "./form-values.ts";
import type { OperationForm } from "./operation-forms.ts";
import styles from "./request-code.module.css";

type RequestCodeProps = { form: OperationForm; input: FormValues; title?: string };

export function RequestCode({ form, input, title }: RequestCodeProps) {
  const [language, setLanguage] = useState<CodeLanguage>("typescript");
  const sample = sampleOf(language, { form, input, origin: location.origin });
  return (
    <div className={styles.request}>
      <div className={styles.head}>
        {title && <h3>{title}</h3>}
        <Segments
          label={text.make.views.code}
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
    </div>
  );
}
