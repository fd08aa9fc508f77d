// One line of progress on standard error: the state of the run, the time and the cost. It is redrawn in place on a
// terminal and not shown elsewhere.
import type { Client, Run } from "@gesso/client";
import { formatAmount, isAgent, toHarmlessText } from "../output/terminal.ts";

export type ProgressLine = { update(run: Run): void; pause(isPaused: boolean): void; end(): void };

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const REDRAW_MS = 120;
const HIDDEN: ProgressLine = { update: () => {}, pause: () => {}, end: () => {} };

export function startProgressLine(client: Client, runId: string, isQuiet: boolean): ProgressLine {
  if (!process.stderr.isTTY || isQuiet || isAgent() || process.env.TERM === "dumb") return HIDDEN;
  const startedAt = Date.now();
  let run: Run | undefined;
  let reserved = 0;
  let width = 0;
  let isPaused = false;
  let frame = 0;
  client.runs.ledger(runId).then(
    (ledger) => {
      reserved = ledger.reserved;
    },
    () => {}, // The cost is only for information.
  );
  const draw = () => {
    if (isPaused) return;
    frame = (frame + 1) % FRAMES.length;
    const text = ` ${FRAMES[frame]} ${describe(run, Date.now() - startedAt, reserved)}`;
    const line = text.slice(0, (process.stderr.columns || 80) - 1);
    process.stderr.write(`\r${line.padEnd(width)}`);
    width = line.length;
  };
  const clear = () => {
    process.stderr.write(`\r${" ".repeat(width)}\r`);
    width = 0;
  };
  const timer = setInterval(draw, REDRAW_MS);
  draw();
  return {
    update: (changed) => {
      run = changed;
    },
    pause: (paused) => {
      isPaused = paused;
      if (paused) clear();
    },
    end: () => {
      clearInterval(timer);
      clear();
    },
  };
}

function describe(run: Run | undefined, elapsedMs: number, reserved: number): string {
  const { status = "queued", progress = 0, phase, queue_position: position } = run ?? {};
  const share = progress > 0 && progress < 1 ? ` ${Math.round(progress * 100)} %` : "";
  const detail = phase && phase !== status ? ` (${toHarmlessText(phase)})` : position ? ` (number ${position})` : "";
  const cost = reserved > 0 ? `, up to ${formatAmount(reserved)}` : "";
  return `${status}${detail}${share}, ${(elapsedMs / 1000).toFixed(1)} s${cost}`;
}
