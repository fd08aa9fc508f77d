import { expect, it } from "vitest";
import { describeOperationTool } from "./describe-operation.ts";

const describe = (operation: string) => describeOperationTool.describe!({ operation }, () => true).content;

it("names the operations that tell what an imported model takes", () => {
  const { rules, input_schema } = describe("runs.create") as { rules: string[]; input_schema: { required: string[] } };
  expect(rules.join(" ")).toMatch(/catalogue\.listModels .*catalogue\.getModel/);
  expect(input_schema.required).toEqual(["model", "input"]);
  expect(JSON.stringify(describe("images.upscale"))).not.toContain("catalogue.getModel");
});
