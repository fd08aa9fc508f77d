// The program `gesso`: loads the command that the command line names, and runs it.
import { createProgram } from "./program.ts";

const program = await createProgram(process.argv.slice(2));
await program.parseAsync();
