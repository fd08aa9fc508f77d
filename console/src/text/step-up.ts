// Words of the dialog that asks for a new login.
export const stepUpText = {
  title: "Sign in again",
  why: "This needs a login of the last 10 minutes. Sign in again, and Gesso continues where you were.",
  other: "The login belongs to another account. Sign in with the account that you use here.",
  oidc: (name: string) => `Sign in at ${name} in a new tab`,
  oidcHint: "Come back to this page afterwards. It continues by itself.",
  link: "Or run this command and open the link in this browser:",
  linkCommand: "gesso console",
};
