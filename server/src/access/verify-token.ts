// Whether a token is what it says, by one issuer's rules: signature, algorithm, kind, audience and every time in it.
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { Fault } from "../faults.ts";

/** Claims that only ID tokens have. An ID token is meant for the client application and is not accepted as an access token. */
const ID_TOKEN_CLAIMS = ["nonce", "at_hash", "c_hash"];

export type TokenVerificationRules = {
  issuer: string;
  audience: string;
  algorithms: string[];
  types: string[];
  required: string[];
  keys: JWTVerifyGetKey | Uint8Array;
  /** How far the clock of the issuer and ours may be apart. */
  skewSeconds: number;
};

export async function verifyToken(
  token: string,
  rules: TokenVerificationRules,
  clock: () => number,
): Promise<JWTPayload> {
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
    if (isEarly || isOtherKind || ID_TOKEN_CLAIMS.some((name) => name in payload)) throw new Fault("invalid_token");
    return payload;
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault(thrown instanceof errors.JWTExpired ? "token_expired" : "invalid_token", {}, { cause: thrown });
  }
}
