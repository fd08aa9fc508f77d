// The models of a provider with their prices, by the kind of work.
import { taskLabel } from "../parts/offer-words.ts";
import { text } from "../text/text.ts";
import styles from "./connect-dialog.module.css";
import { countOffers, groupPrices, type PricedOffer } from "./provider-facts.ts";

const words = text.system;

type Offers = { offers: readonly PricedOffer[] };

export function FoldedPrices({ offers }: Offers) {
  return (
    <details className={styles.details}>
      <summary>{words.pricesOf(countOffers(offers))}</summary>
      <PriceList offers={offers} />
    </details>
  );
}

export function PriceList({ offers }: Offers) {
  return (
    <>
      <table className={styles.prices}>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">{words.model}</th>
            <th scope="col">{words.price}</th>
          </tr>
        </thead>
        {groupPrices(offers).map(({ task, rows }) => (
          <tbody key={task}>
            <tr>
              <th scope="rowgroup" colSpan={2}>
                {taskLabel(task)}
              </th>
            </tr>
            {rows.map(({ model, price }) => (
              <tr key={`${model} ${price}`}>
                <td className="mono">{model}</td>
                <td>{price}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
      {offers.some(({ price }) => price === null) && <p>{words.unknownPrices}</p>}
    </>
  );
}
