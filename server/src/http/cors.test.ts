import { expect, it } from "vitest";
import { CorsEnv } from "./cors.ts";

it("refuses a setting that is not an origin", () => {
  const read = (text: string) => CorsEnv.safeParse({ CORS_ORIGINS: text });
  expect(read("https://app.example.com/, *").data).toEqual({ CORS_ORIGINS: ["https://app.example.com", "*"] });
  expect(CorsEnv.parse({})).toEqual({ CORS_ORIGINS: [] });
  for (const text of ["app.example.com", "ftp://app.example.com", "https://", "null"])
    expect(read(text).error?.issues[0]?.message).toContain("is not an origin");
});
