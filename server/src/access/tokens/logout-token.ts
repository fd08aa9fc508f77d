// Verifies the token with which an identity provider ends sessions (OpenID Connect Back-Channel Logout 1.0). The sender
// of the request is unknown, so the signature of the token is all that counts, and each token counts once.
import type { JWTVerifyGetKey } from "jose";
import type { ProviderLogout } from "../../db/access/console-sessions.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import { verifyToken } from "./verify-token.ts";

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
const SKEW_SECONDS = 60;
const MAX_AGE_SECONDS = 5 * 60;
const MAX_ID_CHARACTERS = 255;

type LogoutIssuer = { id: string; issuer: string; algorithms: string[]; console: { client_id: string } };

export async function verifyLogoutToken(
  { id, issuer, algorithms, console: { client_id: audience } }: LogoutIssuer,
  { token, keys, clock }: { token: string; keys: JWTVerifyGetKey; clock: Pick<Clock, "now"> },
): Promise<ProviderLogout> {
  const payload = await verifyToken(
    token,
    {
      ...{ issuer, audience, algorithms, keys, skewSeconds: SKEW_SECONDS, maxAgeSeconds: MAX_AGE_SECONDS },
      types: ["logout+jwt", "JWT"],
      required: ["jti", "events"],
    },
    clock,
  );
  const { jti, sub, sid, exp, events } = payload;
  const event = (events as Record<string, unknown> | null)?.[LOGOUT_EVENT];
  const names = [jti, sub ?? sid, sid ?? sub];
  const isComplete = names.every((each) => typeof each === "string" && each !== "" && each.length <= MAX_ID_CHARACTERS);
  if (!isComplete || typeof event !== "object" || event === null) throw new Fault("invalid_token");
  return {
    ...{ issuer: id, token_id: jti!, expires_at: new Date((exp! + SKEW_SECONDS) * 1000) },
    ...{ provider_subject: sub, provider_session: sid as string | undefined },
  };
}
