import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { quoteForShell, sampleOf, toTypeScript } from "./code-samples.ts";

const form = { name: "images.generate", path: "/api/v1/runs/generate" };
const input = { prompt: 'it\'s a "fox" $HOME `id`\n<b>', seed: 7, image_urls: ["https://example.com/a.png"] };

it("quotes any text for a shell", () => {
  const said = execFileSync("sh", ["-c", `printf %s ${quoteForShell(input.prompt)}`], { encoding: "utf8" });
  expect(said).toBe(input.prompt);
});

it("writes values that TypeScript reads back", () => {
  const read = new Function(`return ${toTypeScript(input)}`);
  expect(read()).toEqual(input);
  expect(toTypeScript({})).toBe("{}");
});

it("names the variable of the key and never a key", () => {
  const curl = sampleOf("curl", { form, input, origin: "http://127.0.0.1:7788" });
  expect(curl).toContain("Bearer $GESSO_API_KEY");
  expect(curl).toContain("http://127.0.0.1:7788/api/v1/runs/generate");
  expect(sampleOf("typescript", { form, input, origin: "http://127.0.0.1:7788" })).toContain(
    "client.images.generate({",
  );
});
