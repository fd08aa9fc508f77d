// One delivery on a page of its own, for a link that others can open.
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { buttonClass } from "../parts/button-class.ts";
import { Icon } from "../parts/icon.tsx";
import { useNow } from "../parts/use-now.ts";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { DeliveryInspector } from "./delivery-inspector.tsx";
import styles from "./webhooks-page.module.css";

const route = getRouteApi("/shell/deliveries/$deliveryId");

export function DeliveryPage() {
  const { deliveryId } = route.useParams();
  const now = useNow();
  return (
    <>
      <TopBar title={text.webhooks.details}>
        <span className={styles.grow} />
        <Link to="/webhooks" className={buttonClass({ kind: "quiet" })}>
          <Icon of={ArrowLeft} />
          {text.webhooks.back}
        </Link>
      </TopBar>
      <div className={styles.alone}>
        <DeliveryInspector deliveryId={deliveryId} now={now} />
      </div>
    </>
  );
}
