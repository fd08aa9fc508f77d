// Whether a token is what it says, by one issuer's rules: signature, algorithm, kind, audience and every time in it.
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { Fault } from "../faults.ts";

/** Words that only stand in tokens that say who somebody is; those are for the application that asked, not for us. */
const OF_ID_TOKENS = ["nonce", "at_hash", "c_hash"];

export type Rules = {
  issuer: string;
  audience: string;
  algorithms: string[];
  types: string[];
  required: string[];
  keys: JWTVerifyGetKey | Uint8Array;
  /** How far the clock of the issuer and ours may be apart. */
  skewSeconds: number;
};

export async function verifyToken(token: string, rules: Rules, clock: () => number): Promise<JWTPayload> {
  const { issuer, audience, algorithms } = rules;
  const options = {
    ...{ issuer, audience, algorithms, clockTolerance: rules.skewSeconds, currentDate: new Date(clock()) },
    requiredClaims: ["exp", "iat", ...rules.required],
  };
  try {
    const { payload, protectedHeader } =
      rules.keys instanceof Uint8Array
        ? await jwtVerify(token, rules.keys, options)
        : await jwtVerify(token, rules.keys, options);
    const isEarly = payload.iat! * 1000 > clock() + rules.skewSeconds * 1000;
    const isOtherKind = !rules.types.includes(protectedHeader.typ?.replace(/^application\//, "") ?? "JWT");
    if (isEarly || isOtherKind || OF_ID_TOKENS.some((name) => name in payload)) throw new Fault("invalid_token");
    return payload;
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault(thrown instanceof errors.JWTExpired ? "token_expired" : "invalid_token", {}, { cause: thrown });
  }
}
