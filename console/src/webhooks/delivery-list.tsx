// The deliveries as a table, newest first. Selecting one shows it beside the table.
import type { WebhookDelivery } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { classNames } from "../parts/class-names.ts";
import tableStyles from "../parts/table.module.css";
import { text } from "../text/text.ts";
import { DeliveryState } from "./delivery-state.tsx";
import { formatMoment } from "./moment.ts";
import styles from "./webhooks-page.module.css";

type DeliveryListProps = { deliveries: readonly WebhookDelivery[]; selected: string | undefined; now: number };

const words = text.webhooks;
const ID_LENGTH = 8;

export function DeliveryList({ deliveries, selected, now }: DeliveryListProps) {
  const { table, inset, number, minor, current } = tableStyles;
  return (
    <table className={classNames(table, inset, styles.deliveries)}>
      <thead>
        <tr>
          <th scope="col">{words.time}</th>
          <th scope="col">{words.event}</th>
          <th scope="col">{words.run}</th>
          <th scope="col">{words.state}</th>
          <th scope="col" className={number}>
            {words.attempts}
          </th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <tr key={delivery.id} className={delivery.id === selected ? current : undefined}>
            <td className={classNames("numeric", minor)}>{formatMoment(delivery.created_at, now)}</td>
            <td>
              <Link
                from="/webhooks"
                to="/webhooks"
                search={(old) => ({ ...old, delivery: delivery.id })}
                replace
                className={styles.rowLink}
                aria-current={delivery.id === selected ? "true" : undefined}
              >
                {delivery.type}
              </Link>
            </td>
            <td className="mono">{delivery.run_id?.slice(-ID_LENGTH)}</td>
            <td>
              <DeliveryState delivery={delivery} now={now} />
            </td>
            <td className={classNames(number, minor)}>{delivery.attempts}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
