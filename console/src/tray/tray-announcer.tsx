// Tells screen readers about runs that changed their state, without flooding them.
import { useEffect, useRef, useState } from "react";
import { ANNOUNCEMENT_INTERVAL_MS, announcementOf } from "./announcement.ts";
import type { TrayRun } from "./tray-runs.ts";

export function TrayAnnouncer({ runs }: { runs: readonly TrayRun[] }) {
  const current = useRef(runs);
  current.current = runs;
  const [sentence, setSentence] = useState("");
  useEffect(() => {
    let announced = new Map(current.current.map(({ run_id, status }) => [run_id, status]));
    const timer = setInterval(() => {
      const next = announcementOf(current.current, announced);
      announced = new Map(current.current.map(({ run_id, status }) => [run_id, status]));
      if (next) setSentence(next);
    }, ANNOUNCEMENT_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="visually-hidden" role="status">
      {sentence}
    </p>
  );
}
