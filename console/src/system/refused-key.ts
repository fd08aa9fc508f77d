// What the dialog says if the key cannot be used: the provider refused it, it could not be checked, or gesso.yaml
// disables the provider. Other errors have a notice of their own.
import { GessoError } from "@gesso/client";
import { text } from "../text/text.ts";

const CODE = "unusable_provider_key";
const words = text.system;

type Details = { provider?: string; key?: string; reason?: string; fix?: string };

export function readRefusal(error: unknown): string | undefined {
  if (!GessoError.isInstance(error) || error.code !== CODE) return undefined;
  const { provider = "", key, reason = "", fix }: Details = error.details ?? {};
  const said = key === "refused" ? words.refused(provider, reason) : words.unusable(reason, fix);
  return [said, error.requestId && text.common.requestId(error.requestId)].filter(Boolean).join(" ");
}
