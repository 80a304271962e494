import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** The third party behind all bundles. It answers as the current case requests. */
export interface HoldUpstream {
  readonly settings: Readonly<Record<string, string>>;
  /** Sets the response until the next call; default: an empty object. */
  answer(type: string, body: Buffer | string): void;
  close(): Promise<void>;
}

const bundle = `id: hold
version: 1.0.0
name: Hold
description: Calls a third party that answers what the proof tells it to.
provider: Example
developer: Quartermaster
hosts: [api.example.com]
credentials_schema:
  type: object
  additionalProperties: false
  properties: {KEY: {type: string, description: The key., x-secret: true}}
inject:
  - {in: header, name: X-Key, credential: KEY}
verify: {request: {method: GET, url: 'https://api.example.com/verify'}}
`;

const plugin = (id: string, request: string, response: string) => `id: ${id}
name: ${id}
description: Calls the third party.
effects: read
idempotent: true
request: ${request}
response: ${response}
input_schema:
  type: object
  additionalProperties: false
  properties:
    q: {type: string, maxLength: 60000, description: A text.}
    list: {type: array, maxItems: 20000, description: A list., items: {type: string, maxLength: 1000, description: An item.}}
    tree: {type: object, description: Any members.}
output_schema: {type: object, properties: {said: {description: Anything.}}}
`;

const url = "'https://api.example.com/read'";
const plugins: Readonly<Record<string, string>> = {
  read: plugin('read', `{method: GET, url: ${url}, query: {q: '{q}', list: '{list}'}}`, '{output: "{said: body}"}'),
  write: plugin(
    'write',
    `{method: POST, url: ${url}, body: {q: '{q}', list: '{list}', tree: '{tree}'}}`,
    '{output: "{said: body.said}"}',
  ),
  form: plugin(
    'form',
    `{method: POST, url: ${url}, body: {q: '{q}', list: '{list}'}, body_type: form}`,
    '{output: "{said: length(body)}"}',
  ),
  text: plugin('text', `{method: GET, url: ${url}}`, '{format: text, output: "{said: body}"}'),
  xml: plugin('xml', `{method: GET, url: ${url}}`, '{format: xml, output: "{said: body}"}'),
  bytes: plugin('bytes', `{method: GET, url: ${url}}`, '{format: base64, output: "{said: body}"}'),
  files: plugin('files', `{method: POST, url: ${url}, body: {file: '{file}'}}`, '{output: "{said: body}"}').replace(
    'properties:\n',
    `properties:
    file: {type: string, contentEncoding: base64, minLength: 40, pattern: "^[A-Za-z0-9+/]+={0,2}$", description: A file.}
    picture: {type: string, contentEncoding: base64, contentMediaType: image/png, description: A picture.}
    files: {type: array, description: Files., items: {type: string, contentEncoding: base64, pattern: "^[A-Za-z0-9+/]+={0,2}$"}}
`,
  ),
  sort: plugin('sort', `{method: GET, url: ${url}}`, '{output: "{said: sort_by(body, &to_string(@))}"}'),
};

/** Bundles whose plugins receive the hostile responses, with the format that each of them reads. */
export const answeredPlugins = Object.keys(plugins);

export async function openHoldUpstream(folder: string): Promise<HoldUpstream> {
  const place = join(folder, 'bundles', 'hold');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'bundle.yaml'), bundle);
  for (const [id, text] of Object.entries(plugins)) writeFileSync(join(place, `${id}.yaml`), text);
  let present: { type: string; body: Buffer | string } = { type: 'application/json', body: '{}' };
  const server = createServer((request, response) => {
    request.resume();
    const { type, body } = present;
    response.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) }).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const origins = [...shippedHosts(), 'api.example.com'].flatMap((host) => [`https://${host}`, `http://${host}`]);
  const overrides = Object.fromEntries(origins.map((origin) => [origin, `http://127.0.0.1:${port}`]));
  return {
    settings: {
      BUNDLES: join(folder, 'bundles'),
      EGRESS_OVERRIDES: JSON.stringify(overrides),
      BUNDLE_HOSTS: JSON.stringify({ http_request: ['api.example.com'] }),
    },
    answer: (type, body) => {
      present = { type, body };
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

/** Returns every host that a shipped bundle names, so that no call leaves the machine. */
function shippedHosts(): string[] {
  const root = join(import.meta.dirname, '../../bundles');
  return readdirSync(root).flatMap((name) => {
    const text = readFileSync(join(root, name, 'bundle.yaml'), 'utf8');
    const list = /^hosts:(?: *\[([^\]]*)\]|((?:\n +- .*)*))/m.exec(text);
    return (list?.[1] ?? list?.[2] ?? '').match(/[a-z0-9][a-z0-9.-]+(?::\d+)?/g) ?? [];
  });
}
