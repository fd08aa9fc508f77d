// The program `gesso`: loads the command that the command line names, and runs it. Completion takes a short way,
// because shells wait for it at every key.
const parameters = process.argv.slice(2);

if (parameters[0] === "__complete") {
  const { printCandidates } = await import("./completion/complete.ts");
  await printCandidates(parameters.slice(1));
} else {
  const { createProgram } = await import("./program.ts");
  await (await createProgram(parameters)).parseAsync();
}
