// Finds settings that a server that other machines can reach must not have: what is meant for development, secrets from
// examples, and values that are easy to guess. Reports name the setting and never contain its value.

type SecretSettings = {
  HOST: string;
  PUBLIC_URL: string;
  GESSO_SECRET: string;
  GESSO_ACCEPTED_SECRETS: string[];
  GESSO_API_KEY?: string | undefined;
  DATABASE_URL: string;
  DIRECT_DATABASE_URL?: string | undefined;
  MIGRATION_DATABASE_URL?: string | undefined;
  S3_SECRET_ACCESS_KEY?: string | undefined;
  FETCHER_TOKEN?: string | undefined;
  WEBHOOK_ALLOW_LOOPBACK: boolean;
  DEV_CONNECT_FILE?: string | undefined;
};
type WeakSetting = { name: keyof SecretSettings; message: string };

export const isLoopbackHost = (host: string) =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127\./.test(host);

/** `gesso dev` and tests listen on this machine and have a URL on it; all other servers are production servers. */
export const isLoopbackInstallation = ({ HOST, PUBLIC_URL }: Pick<SecretSettings, "HOST" | "PUBLIC_URL">): boolean =>
  isLoopbackHost(HOST) && isLoopbackHost(new URL(PUBLIC_URL).hostname);

const SAMPLE_WORDS =
  /change.?me|replace.?me|example|placeholder|password|default|your.?secret|secret.?of.?tests|\.\.\./i;
const DEFAULT_PASSWORDS = ["postgres", "password", "gesso", "admin", "root", "secret", "changeme", "minioadmin"];
/** 32 hexadecimal digits of a random number have fewer than this with a probability below one in a million. */
const MIN_DIFFERENT_CHARACTERS = 7;
const MIN_S3_SECRET_LENGTH = 16;

export function findWeakProductionSettings(settings: SecretSettings): WeakSetting[] {
  if (isLoopbackInstallation(settings)) return [];
  const generated = (name: keyof SecretSettings, values: (string | undefined)[]): WeakSetting[] =>
    values.some((value) => value !== undefined && isGuessable(value))
      ? [{ name, message: "a sample value or easy to guess. Generate one with `openssl rand -hex 32`" }]
      : [];
  const s3Secret = settings.S3_SECRET_ACCESS_KEY;
  return [
    ...(settings.GESSO_API_KEY === undefined
      ? []
      : [
          {
            name: "GESSO_API_KEY" as const,
            message:
              "a development key with all scopes, and other machines can reach this server (HOST or PUBLIC_URL is not a " +
              "loopback address). Remove it: the first start prints a key",
          },
        ]),
    ...(settings.WEBHOOK_ALLOW_LOOPBACK
      ? [
          {
            name: "WEBHOOK_ALLOW_LOOPBACK" as const,
            message:
              "for development only, and other machines can reach this server (HOST or PUBLIC_URL is not a loopback " +
              "address): its users could send requests to services of this machine. Remove it",
          },
        ]
      : []),
    ...(settings.DEV_CONNECT_FILE === undefined
      ? []
      : [
          {
            name: "DEV_CONNECT_FILE" as const,
            message:
              "for gesso dev only, and other machines can reach this server (HOST or PUBLIC_URL is not a loopback " +
              "address): it would write keys of providers that are sent to it. Remove it",
          },
        ]),
    ...generated("GESSO_SECRET", [settings.GESSO_SECRET]),
    ...generated("GESSO_ACCEPTED_SECRETS", settings.GESSO_ACCEPTED_SECRETS),
    ...generated("FETCHER_TOKEN", [settings.FETCHER_TOKEN]),
    ...findDefaultPassword("DATABASE_URL", settings.DATABASE_URL),
    ...findDefaultPassword("DIRECT_DATABASE_URL", settings.DIRECT_DATABASE_URL),
    ...findDefaultPassword("MIGRATION_DATABASE_URL", settings.MIGRATION_DATABASE_URL),
    ...(s3Secret !== undefined && (s3Secret.length < MIN_S3_SECRET_LENGTH || DEFAULT_PASSWORDS.includes(s3Secret))
      ? [{ name: "S3_SECRET_ACCESS_KEY" as const, message: "a default value or shorter than 16 characters" }]
      : []),
  ];
}

const isGuessable = (secret: string) =>
  SAMPLE_WORDS.test(secret) || new Set(secret).size < MIN_DIFFERENT_CHARACTERS || isRepetition(secret);

/** Whether a text of at most 16 characters is repeated to reach the required length. */
const isRepetition = (secret: string) =>
  Array.from({ length: 16 }, (_, index) => secret.slice(index + 1)).some(
    (rest) => rest !== "" && secret.startsWith(rest),
  );

function findDefaultPassword(name: keyof SecretSettings, url: string | undefined): WeakSetting[] {
  const password = decodeURIComponent(URL.parse(url ?? "")?.password ?? "");
  const isDefault = DEFAULT_PASSWORDS.includes(password.toLowerCase()) || SAMPLE_WORDS.test(password);
  return isDefault ? [{ name, message: "contains a default or sample password" }] : [];
}
