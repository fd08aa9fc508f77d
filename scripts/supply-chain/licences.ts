// Decides whether the licence of each locked package is allowed. Licences are SPDX expressions; a package whose licence
// is not in the list needs an exception by name, with a reason.

/** `package` is a name, or a prefix that ends with `*`. `spdx` corrects a licence that the package states wrongly. */
export type LicenceException = { package: string; stated: string; spdx: string; reason: string };
export type LicencePolicy = { allowed: string[]; exceptions: LicenceException[] };
export type LicensedPackage = { name: string; licence: string | undefined };

export function findLicenceViolations(packages: LicensedPackage[], policy: LicencePolicy): string[] {
  const used = new Set<LicenceException>();
  const refused = packages.filter(({ name, licence }) => {
    if (licence && isAllowed(licence, policy.allowed)) return false;
    const exception = findLicenceException(policy, name, licence);
    if (exception) used.add(exception);
    return !exception;
  });
  return [
    ...new Set(refused.map(({ name, licence }) => `${name}: licence ${licence ?? "missing"} is not allowed`)),
    ...policy.exceptions
      .filter((exception) => !used.has(exception))
      .map((exception) => `the exception for ${exception.package} (${exception.stated}) is not used: remove it`),
    ...policy.exceptions
      .filter(({ reason }) => !reason?.trim())
      .map((exception) => `the exception for ${exception.package} has no reason`),
  ];
}

export const findLicenceException = (
  { exceptions }: LicencePolicy,
  name: string,
  licence: string | undefined,
): LicenceException | undefined =>
  exceptions.find(
    (each) =>
      each.stated === licence &&
      (each.package.endsWith("*") ? name.startsWith(each.package.slice(0, -1)) : name === each.package),
  );

/** Of `A OR B` one is enough, of `A AND B` both count. AND binds closer than OR, as in the SPDX specification. */
export function isAllowed(expression: string, allowed: string[]): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let position = 0;
  const parseTerm = (): boolean => {
    if (tokens[position] !== "(") return allowed.includes(parseLicence());
    position += 1;
    const value = parseAlternatives();
    if (tokens[position] !== ")") throw new Error(`cannot read the licence ${expression}`);
    position += 1;
    return value;
  };
  const parseLicence = (): string => {
    const id = tokens[position] ?? "";
    position += 1;
    if (tokens[position] !== "WITH") return id;
    position += 2;
    return `${id} WITH ${tokens[position - 1]}`;
  };
  const parseConjunction = (): boolean => {
    let value = parseTerm();
    for (; tokens[position] === "AND"; ) {
      position += 1;
      value = parseTerm() && value;
    }
    return value;
  };
  const parseAlternatives = (): boolean => {
    let value = parseConjunction();
    for (; tokens[position] === "OR"; ) {
      position += 1;
      value = parseConjunction() || value;
    }
    return value;
  };
  const value = parseAlternatives();
  // A licence that is no expression, such as "SEE LICENSE IN x", is not in the list.
  return position === tokens.length && value;
}
