import { type Bundle, type Plugin, profileMember } from '@quartermaster/contract';
import { basePath, filesUrl } from '../../base-path.ts';

export interface ExampleProps {
  readonly bundle: Bundle;
  readonly plugin: Plugin;
  readonly input: unknown;
  /** Names only: examples never contain values. */
  readonly credentials: readonly string[];
  /** Name of a credential profile; null when the user enters credentials. */
  readonly profile: string | null;
}

/** Code for the same call, with variables in place of credentials. */
export function examplesOf(example: ExampleProps): Readonly<Record<'curl' | 'TypeScript' | 'Python' | 'MCP', string>> {
  return { curl: curl(example), TypeScript: typeScript(example), Python: python(example), MCP: mcp(example) };
}

const url = () => `${filesUrl()}/plugins/v1/execute`;

function bodyOf({ plugin, input }: ExampleProps, credentials: unknown) {
  return { bundle_id: plugin.bundle_id, plugin_id: plugin.plugin_id, input_params: input, credentials };
}

function curl(example: ExampleProps): string {
  const { credentials, profile } = example;
  const variables = Object.fromEntries(credentials.map((name) => [name, `$${name}`]));
  const shown = profile === null ? variables : { [profileMember]: profile };
  const body = JSON.stringify(bodyOf(example, shown), null, 2).replaceAll("'", "'\\''");
  // Closes the shell's single quotes around each variable.
  const filled = credentials.reduce((text, name) => text.replaceAll(`"$${name}"`, `"'"$${name}"'"`), body);
  return [
    `curl ${url()} \\`,
    '  -H "Authorization: Bearer $QM_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${filled}'`,
  ].join('\n');
}

function typeScript(example: ExampleProps): string {
  const { plugin, input, credentials, profile } = example;
  const variables = credentials.map((name) => `${name}: process.env.${name}`).join(', ');
  const credentialMembers = profile === null ? variables : `${profileMember}: '${profile}'`;
  const options = credentialMembers === '' ? '' : `, {\n  credentials: { ${credentialMembers} },\n}`;
  return `import { Quartermaster } from '@quartermaster/client';

const qm = new Quartermaster({
  baseUrl: '${filesUrl()}',
  apiKey: process.env.QM_API_KEY,
});
const result = await qm.plugins.run('${plugin.bundle_id}/${plugin.plugin_id}', ${JSON.stringify(input, null, 2)}${options});
console.log(result.data);`;
}

function python(example: ExampleProps): string {
  const { plugin, input, credentials, profile } = example;
  const variables = credentials.map((name) => `"${name}": os.environ["${name}"]`).join(', ');
  const credentialMembers = profile === null ? variables : `"${profileMember}": "${profile}"`;
  const text = JSON.stringify(JSON.stringify(input)).replaceAll("'", "\\'");
  return `import json, os, requests

response = requests.post(
    "${url()}",
    headers={"Authorization": f"Bearer {os.environ['QM_API_KEY']}"},
    json={
        "bundle_id": "${plugin.bundle_id}",
        "plugin_id": "${plugin.plugin_id}",
        "input_params": json.loads(${text}),
        "credentials": {${credentialMembers}},
    },
)
response.raise_for_status()
print(response.json()["data"]["data"])`;
}

/** The links to icons start with the plugins address. */
function mcp({ bundle, credentials, profile }: ExampleProps): string {
  const { hostname, protocol } = window.location;
  // Below a base path the port is unknown. The files address serves the same endpoints.
  const fallback = basePath === '' ? `${protocol}//${hostname}:8081` : filesUrl();
  const address = bundle.icon_url?.slice(0, bundle.icon_url.indexOf('/v1/bundles/')) ?? fallback;
  const entered = Object.fromEntries(credentials.map((name) => [`X-Credential-${name}`, `<${name}>`]));
  const headers = profile === null ? entered : { 'X-Plugin-Profile': profile };
  const server = {
    type: 'http',
    url: `${address}/mcp/${bundle.bundle_id}`,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
  };
  return JSON.stringify({ mcpServers: { [bundle.bundle_id]: server } }, null, 2);
}
