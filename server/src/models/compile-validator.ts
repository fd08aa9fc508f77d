// Compiles a normalized schema into a function that judges values. Every schema gets an instance of the compiler: a
// shared one keeps a part of every schema that it has compiled.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { JsonObject } from "../contract/schemas/run.ts";
import { compilePattern } from "./patterns.ts";

/** The compiler asks for a function with the property `code`, which only generated modules use. */
const regExp = Object.assign((source: string) => compilePattern(source), { code: "compilePattern" });

/** Throws if the schema has a value that no keyword permits. */
export function compileValidator(schema: JsonObject): ValidateFunction {
  const ajv = new Ajv2020({
    // The import has judged the schema: its keywords, their values and its bounds.
    validateSchema: false,
    meta: false,
    addUsedSchema: false,
    strict: false,
    logger: false,
    // A format says that a text is a URL or a date. Files are given in more forms than URLs.
    validateFormats: false,
    allErrors: true,
    // Errors come with the schema that they are about.
    verbose: true,
    // Fields that are called like members of every object are only there if the input has them.
    ownProperties: true,
    inlineRefs: false,
    // 0.3 is a multiple of 0.1, although the computer's numbers say otherwise.
    multipleOfPrecision: 6,
    code: { regExp },
  });
  return ajv.compile(schema);
}
