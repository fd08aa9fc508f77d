// Make before the first run: examples to start from.
import { useQuery } from "@tanstack/react-query";
import { catalogueQuery } from "../api/queries.ts";
import fox from "../assets/example-fox.webp";
import lighthouse from "../assets/example-lighthouse.webp";
import pattern from "../assets/example-pattern.webp";
import { findOperationForm } from "../forms/operation-forms.ts";
import { RequestCode } from "../forms/request-code.tsx";
import { text } from "../text/text.ts";
import styles from "./first-steps.module.css";

const IMAGES = [lighthouse, fox, pattern];

const EXAMPLE = { prompt: text.make.examples[1] };
const SANDBOX = "sandbox";

export function FirstSteps({ onExample }: { onExample(prompt: string): void }) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const isSandbox = catalogue?.models.some(({ offers }) => offers.some(({ provider }) => provider === SANDBOX));
  return (
    <div className={styles.first}>
      <div>
        <h2>{text.make.firstTitle}</h2>
        <p className={styles.lede}>{isSandbox ? text.make.firstSandbox : text.make.firstLede}</p>
      </div>
      <div className={styles.examples}>
        {text.make.examples.map((prompt, index) => (
          <button key={prompt} type="button" className={styles.example} onClick={() => onExample(prompt)}>
            <img src={IMAGES[index]} alt="" width={480} height={360} />
            <span>{prompt}</span>
          </button>
        ))}
      </div>
      <div className={styles.code}>
        <RequestCode form={findOperationForm(undefined)} input={EXAMPLE} title={text.make.firstCode} />
        <p className={styles.lede}>{text.make.firstWait}</p>
      </div>
    </div>
  );
}
