// The exact request to a provider: method and path, and the body on demand.
import styles from "./timeline.module.css";

export function AttemptRequest({ request }: { request: Record<string, unknown> }) {
  const { method, path, ...rest } = request;
  const line = [method, path].filter((part) => typeof part === "string").join(" ");
  return (
    <details className={styles.request}>
      <summary>{line || "JSON"}</summary>
      <pre>{JSON.stringify("body" in rest ? rest.body : rest, null, 2)}</pre>
    </details>
  );
}
