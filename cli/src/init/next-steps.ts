// NEXT-STEPS.md of a deployment: the commands from the written files to the first image, and what follows.
const DOCS = "https://github.com/gesso-run/gesso/blob/main/docs/guide";

export type Deployment = { folder: string; host: string; proxy: boolean };

export function renderNextSteps({ host, proxy }: Deployment, version: string): string {
  const isLocal = host === "localhost";
  const authority = proxy && isLocal ? " --cacert root.crt" : "";
  return `# Next steps

Run all commands in this folder. You need Docker 23 or newer with Compose 2.24 or newer.

1. **Image.** Compose runs \`gesso:${version}\`. Build it in a clone of the repository, or name yours as \`GESSO_IMAGE\` in \`.env\`:

   \`\`\`bash
   docker build -f deploy/Dockerfile -t gesso:${version} --build-arg VERSION=${version} .
   \`\`\`

2. **Keys of providers.** This checks a key and prints the lines that give it to the server:

   \`\`\`bash
   gesso providers connect fal --production
   \`\`\`

${hostSteps({ host, proxy, isLocal })}
4. **Start.**

   \`\`\`bash
   docker compose up --detach --wait
   docker compose logs api worker | grep "First API key"
   \`\`\`

   Without keys of providers, try it with the sandbox, which is offline and free:
   \`docker compose -f compose.yaml -f compose.dev.yaml up --detach --wait\`

5. **First image.** The key is printed once: store it.

   \`\`\`bash
${proxy && isLocal ? "   docker compose cp proxy:/data/caddy/pki/authorities/local/root.crt .\n" : ""}   export GESSO_API_KEY=gsk_...
   curl${authority} https://${host}/api/v1/runs/generate -H "Authorization: Bearer $GESSO_API_KEY" \\
     -H "Content-Type: application/json" -d '{"prompt": "a lighthouse above the clouds", "sync": true}'
   \`\`\`

   The console is at https://${host}/console.

6. **Monitoring.** Prometheus is at http://127.0.0.1:9090, with the alerts of \`monitoring/alerts.yaml\`. Name your Alertmanager in
   \`monitoring/prometheus.yml\`, or alerts reach no one. Import \`monitoring/dashboards\` into Grafana.
   [Alerts](${DOCS}/alerts.md), [monitoring](${DOCS}/monitoring.md)

7. **Backup.** Copy \`secrets/\` to a safe place now: without \`gesso_secret\`, stored webhook secrets and file URLs are lost.
   [Backup and restore](${DOCS}/backup-and-restore.md)

8. **Before real traffic**, read the [production checklist](${DOCS}/production.md#production-checklist).
   [Upgrades](${DOCS}/upgrade.md), [Docker](${DOCS}/docker.md)

A lost first key: \`docker compose exec api gesso-server --role create-key\`.
`;
}

function hostSteps({ host, proxy, isLocal }: { host: string; proxy: boolean; isLocal: boolean }): string {
  if (!proxy)
    return `3. **Proxy.** Put your proxy with TLS in front of 127.0.0.1:7788. [Reverse proxy and TLS](${DOCS}/reverse-proxy.md)
`;
  if (isLocal)
    return `3. **Host.** This deployment is for https://localhost, with a certificate of its own authority. For a public one, write its
   name to \`GESSO_HOST\` and \`PUBLIC_URL\` in \`.env\`, and let its DNS entry lead to this machine: the proxy gets the certificate.
`;
  return `3. **Host.** The DNS entry of ${host} must lead to this machine, and ports 80 and 443 must be open: the proxy gets the
   certificate by itself.
`;
}
