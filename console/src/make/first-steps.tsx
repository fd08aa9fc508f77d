// Make before the first run: examples to start from.
import fox from "../assets/example-fox.webp";
import lighthouse from "../assets/example-lighthouse.webp";
import pattern from "../assets/example-pattern.webp";
import { text } from "../text/text.ts";
import styles from "./first-steps.module.css";

const IMAGES = [lighthouse, fox, pattern];

export function FirstSteps({ onExample }: { onExample(prompt: string): void }) {
  return (
    <div className={styles.first}>
      <div>
        <h2>{text.make.firstTitle}</h2>
        <p className={styles.lede}>{text.make.firstLede}</p>
      </div>
      <div className={styles.examples}>
        {text.make.examples.map((prompt, index) => (
          <button key={prompt} type="button" className={styles.example} onClick={() => onExample(prompt)}>
            <img src={IMAGES[index]} alt="" width={480} height={360} />
            <span>{prompt}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
