// The line below the title of a timeline entry: what it cost, made or reached.
import type { Output, Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { formatBytes } from "../format/bytes.ts";
import { formatMoney } from "../format/money.ts";
import { text } from "../text/text.ts";
import type { TimelineEntry } from "./timeline.ts";

const words = text.runPage.timeline;

type TimelineDetailProps = { entry: TimelineEntry; run: Run; reserved: number | undefined };

export function TimelineDetail({ entry: { kind, delivery }, run, reserved }: TimelineDetailProps) {
  if (kind === "delivery" && delivery) {
    return (
      <p>
        <Link to="/deliveries/$deliveryId" params={{ deliveryId: delivery.id }} title={words.openDelivery}>
          {withoutProtocol(delivery.url)}
        </Link>
        {" · "}
        {words.deliveryFacts(delivery.type, delivery.attempts)}
      </p>
    );
  }
  if (kind === "accepted" && reserved !== undefined) {
    return (
      <p>{reserved > 0 ? words.acceptedNext(run.user_id, formatMoney(reserved)) : words.acceptedFree(run.user_id)}</p>
    );
  }
  if (kind !== "ended") return null;
  if (run.error) return <p>{run.error.message}</p>;
  return run.outputs.length > 0 ? <p>{run.outputs.map(factsOf).join(", ")}</p> : null;
}

const withoutProtocol = (url: string) => url.replace(/^https?:\/\//, "");

const factsOf = ({ media_type, width, height, size_bytes }: Output) =>
  `${(media_type.split("/")[1] ?? "").toUpperCase()} ${width} × ${height} · ${formatBytes(size_bytes)}`;
