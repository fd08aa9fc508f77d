// What the price on the button is made of, and what is left of the month's limit.
import { useQuery } from "@tanstack/react-query";
import { identityQuery, monthSpendQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { text } from "../text/text.ts";
import styles from "./make-form.module.css";
import type { Price } from "./price-sum.ts";

export function PriceLine({ price }: { price: Price }) {
  const { data: identity } = useQuery(identityQuery);
  const limit = identity?.tenant.limits.spend_per_month ?? null;
  const { data: spent } = useQuery({ ...monthSpendQuery, enabled: limit !== null });
  return (
    <p className={styles.priceLine}>
      <span className="clip">{sayBasis(price)}</span>
      {limit !== null && spent !== undefined && (
        <span>{text.make.leftThisMonth(formatMoney(Math.max(0, limit - spent)))}</span>
      )}
    </p>
  );
}

function sayBasis({ basis, isIncomplete }: Price): string {
  const [first] = basis;
  if (isIncomplete) return text.make.priceIncomplete;
  if (!first || first.unit_price === null) return "";
  const quantity = basis.reduce((sum, each) => sum + each.quantity, 0);
  const isUniform = basis.every(({ unit_price }) => unit_price === first.unit_price);
  const product = isUniform
    ? text.make.priceBasis(quantity, formatMoney(first.unit_price))
    : basis
        .map(({ unit_price }) => (unit_price === null ? text.make.priceUnknown : formatMoney(unit_price)))
        .join(" + ");
  return [product, first.price_version && text.make.priceList(first.price_version)].filter(Boolean).join(" · ");
}
