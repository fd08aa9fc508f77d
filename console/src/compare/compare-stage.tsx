// The stage of a comparison in the chosen mode. Holding the space bar shows the second image in every mode. A run
// without an image says so in its place.

import type { Output, Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { ImageOff } from "lucide-react";
import { useEffect, useState } from "react";
import { formatSize } from "../format/file-facts.ts";
import { buttonClass } from "../parts/button-class.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { findPrompt } from "../parts/run-prompt.ts";
import { text } from "../text/text.ts";
import styles from "./compare-page.module.css";
import type { CompareMode } from "./modes.ts";
import { SliderView } from "./slider-view.tsx";

const words = text.compare;

type CompareStageProps = { first: Run; second: Run; mode: CompareMode };

const isImage = ({ role, media_type }: Output) => role === "result" && media_type.startsWith("image/");
export const imageOfRun = ({ outputs }: Run): Output | undefined => outputs.find(isImage);

export function CompareStage({ first, second, mode }: CompareStageProps) {
  const isHeld = useHeldSpace();
  const [a, b] = [imageOfRun(first), imageOfRun(second)];
  if (!a || !b) return <MissingImage run={a ? second : first} name={a ? "B" : "A"} />;
  const isFlipped = isHeld || mode === "flip";
  return (
    <section className={styles.stage} aria-label={words.modes[mode]}>
      <div className={styles.frame}>
        <div
          className={mode === "side" && !isHeld ? styles.side : styles.box}
          ref={cssVariables({ "--ratio": String((a.width ?? 1) / (a.height ?? 1)) })}
        >
          {isFlipped ? (
            <FlipView first={a.url} second={b.url} isHeld={isHeld} />
          ) : (
            <CompareImages a={a.url} b={b.url} mode={mode} />
          )}
          {!isFlipped && <ImageLabels first={first} second={second} />}
        </div>
      </div>
      <StageHints output={a} />
    </section>
  );
}

function CompareImages({ a, b, mode }: { a: string; b: string; mode: CompareMode }) {
  if (mode === "slider") return <SliderView first={a} second={b} />;
  if (mode === "side") {
    return (
      <>
        <img src={a} alt={words.first} />
        <img src={b} alt={words.second} />
      </>
    );
  }
  return (
    <div className={styles.overlay}>
      <img src={a} alt={words.difference} />
      <img src={b} alt="" className={styles.difference} />
    </div>
  );
}

function StageHints({ output }: { output: Output }) {
  return (
    <p className={styles.hints}>
      <span>{formatSize(output)}</span>
      <span>
        <kbd className={styles.key}>←</kbd> <kbd className={styles.key}>→</kbd> {words.keys.move}
      </span>
      <span>
        <kbd className={styles.key}>Space</kbd> {words.keys.hold}
      </span>
      <span>
        <kbd className={styles.key}>M</kbd> {words.keys.mode}
      </span>
    </p>
  );
}

function MissingImage({ run, name }: { run: Run; name: string }) {
  const open = (
    <Link to="/runs/$runId" params={{ runId: run.run_id }} className={buttonClass()}>
      {words.openRun}
    </Link>
  );
  return (
    <div className={styles.stage}>
      <EmptyState icon={ImageOff} title={words.missing(name)} action={open}>
        {words.missingNext}
      </EmptyState>
    </div>
  );
}

/** `isHeld`: the space bar is held anywhere on the page. */
type FlipViewProps = { first: string; second: string; isHeld: boolean };

/** Shows the first image, and the second one while the button or the space bar is held. */
function FlipView({ first, second, isHeld }: FlipViewProps) {
  const [isPressed, setIsPressed] = useState(false);
  const hold = () => setIsPressed(true);
  const release = () => setIsPressed(false);
  const isSecond = isHeld || isPressed;
  return (
    <button
      type="button"
      className={styles.flip}
      aria-label={text.compare.flip}
      aria-pressed={isSecond}
      onPointerDown={hold}
      onPointerUp={release}
      onPointerCancel={release}
      onPointerLeave={release}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={({ key }) => key === " " && hold()}
      onKeyUp={release}
      onBlur={release}
    >
      {/* Both images are loaded, so that neither flickers. */}
      <img src={first} alt={text.compare.first} hidden={isSecond} draggable={false} />
      <img src={second} alt={text.compare.second} hidden={!isSecond} draggable={false} />
      <span className={styles.label}>
        <b>{isSecond ? "B" : "A"}</b>
      </span>
    </button>
  );
}

const nameOf = (run: Run) => `${findPrompt(run) ?? text.run.noPrompt} · ${run.run_id.slice(-4)}`;

/** The names of both images on a scrim, A at the left and B at the right. */
function ImageLabels({ first, second }: { first: Run; second: Run }) {
  return (
    <>
      <span className={styles.label}>
        <b>A</b> <span className="clip">{nameOf(first)}</span>
      </span>
      <span className={`${styles.label} ${styles.labelSecond}`}>
        <b>B</b> <span className="clip">{nameOf(second)}</span>
      </span>
    </>
  );
}

const OWN_SPACE = "button, a, input, textarea, select, [role=radio], [role=button]";

/** Whether the space bar is held. Controls keep the space bar for themselves. */
function useHeldSpace(): boolean {
  const [isHeld, setIsHeld] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== " " || (event.target instanceof Element && event.target.closest(OWN_SPACE))) return;
      event.preventDefault();
      setIsHeld(true);
    };
    const release = () => setIsHeld(false);
    document.addEventListener("keydown", press);
    document.addEventListener("keyup", release);
    window.addEventListener("blur", release);
    return () => {
      document.removeEventListener("keydown", press);
      document.removeEventListener("keyup", release);
      window.removeEventListener("blur", release);
    };
  }, []);
  return isHeld;
}
