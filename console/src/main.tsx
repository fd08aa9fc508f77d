// Entry of the page: applies the stored theme, signs in with the link of `gesso dev` if the URL has one, and renders.
import "@fontsource-variable/geist/index.css";
import "@fontsource-variable/geist-mono/index.css";
import "./styles/tokens.css";
import "./styles/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { startSession, takeSignInLink } from "./login/sign-in-link.ts";
import { applyTheme, readStoredTheme } from "./shell/theme.ts";

applyTheme(readStoredTheme());
const startup = startSession(takeSignInLink());

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App startup={startup} />
  </StrictMode>,
);
