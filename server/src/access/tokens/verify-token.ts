// Verifies a token by the rules of its issuer: signature, algorithm, type, audience and times.
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from "jose";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { SecretKeys } from "../../runtime/secret-keys.ts";

/**
 * Claims that only ID tokens have. An ID token is meant for the client application and is not accepted as an access
 * token.
 */
const ID_TOKEN_CLAIMS = ["nonce", "at_hash", "c_hash"];

export type TokenVerificationRules = {
  issuer: string;
  audience: string;
  algorithms: string[];
  types: string[];
  required: string[];
  /** The issuer's public keys, or the secrets of tokens that this server issued. */
  keys: JWTVerifyGetKey | SecretKeys;
  /** Tolerated difference between the clocks of the issuer and this server. */
  skewSeconds: number;
  /** Longest time since a token was issued, however long the token says that it is valid. */
  maxAgeSeconds?: number;
};

export async function verifyToken(
  token: string,
  rules: TokenVerificationRules,
  clock: Pick<Clock, "now">,
): Promise<JWTPayload> {
  const { issuer, audience, algorithms } = rules;
  const options = {
    ...{ issuer, audience, algorithms, clockTolerance: rules.skewSeconds, currentDate: new Date(clock.now()) },
    requiredClaims: ["exp", "iat", ...rules.required],
    ...(rules.maxAgeSeconds !== undefined && { maxTokenAge: rules.maxAgeSeconds }),
  };
  try {
    const { payload, protectedHeader } =
      typeof rules.keys === "function"
        ? await jwtVerify(token, rules.keys, options)
        : await verifyWithAny(token, rules.keys, options);
    const isEarly = payload.iat! * 1000 > clock.now() + rules.skewSeconds * 1000;
    const isOtherType = !rules.types.includes(protectedHeader.typ?.replace(/^application\//, "") ?? "JWT");
    if (isEarly || isOtherType || ID_TOKEN_CLAIMS.some((name) => name in payload)) throw new Fault("invalid_token");
    return payload;
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault(thrown instanceof errors.JWTExpired ? "token_expired" : "invalid_token", {}, { cause: thrown });
  }
}

/** The first secret whose signature fits decides: its other checks are final. */
async function verifyWithAny(token: string, [secret, ...others]: SecretKeys, options: JWTVerifyOptions) {
  try {
    return await jwtVerify(token, secret, options);
  } catch (thrown) {
    const [next, ...rest] = others;
    if (!(thrown instanceof errors.JWSSignatureVerificationFailed) || next === undefined) throw thrown;
    return verifyWithAny(token, [next, ...rest], options);
  }
}
