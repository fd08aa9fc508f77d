// The sign-in page: identity providers first where the operator configured them, then an API key.
import { useQuery } from "@tanstack/react-query";
import { configQuery } from "../api/queries.ts";
import { oidcUrl, type Session, type SignInRefusal } from "../api/session.ts";
import art from "../assets/login.webp";
import { BrandMark } from "../parts/brand-mark.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { text } from "../text/text.ts";
import { KeyForm } from "./key-form.tsx";
import styles from "./login-page.module.css";
import { RefusalNotice } from "./refusal-notice.tsx";

type LoginPageProps = { refusal: SignInRefusal | undefined; onSignedIn(session: Session): void };

export function LoginPage({ refusal, onSignedIn }: LoginPageProps) {
  const { data: config } = useQuery(configQuery);
  const providers = config?.sign_in_methods.oidc ?? [];
  return (
    <main className={styles.login}>
      <title>{`${text.login.title} · ${text.product}`}</title>
      <section className={styles.left}>
        <div className={styles.brand}>
          <BrandMark />
          {text.product}
        </div>
        <div className={styles.card}>
          <div>
            <h1>{text.login.title}</h1>
            <p className={styles.host}>{text.login.to(location.host)}</p>
          </div>
          {refusal && <RefusalNotice refusal={refusal} />}
          {providers.map(({ id, url }) => (
            <a key={id} className={buttonClass({ kind: "primary", size: "l" })} href={oidcUrl(url, location.pathname)}>
              {text.login.oidc(id)}
            </a>
          ))}
          {providers.length > 0 && <div className={styles.or}>{text.login.or}</div>}
          <KeyForm isPrimary={providers.length === 0} onSignedIn={onSignedIn} />
        </div>
        <p className={styles.local}>
          {text.login.local} <code>{text.login.localCommand}</code> {text.login.localNext}
        </p>
      </section>
      <figure className={styles.art}>
        <img src={art} alt={text.login.art} />
        <figcaption>{text.login.artCaption}</figcaption>
      </figure>
    </main>
  );
}
