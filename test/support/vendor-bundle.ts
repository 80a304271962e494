import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serve } from './http.ts';
import { type Ending, temporaryFolder } from './service.ts';

/** The error answer of a third party. */
export interface VendorError {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const about = `version: 1.0.0
name: Vendor
description: Asks a third party that refuses.
provider: Example
developer: Quartermaster
hosts: [api.example.com]
`;

const plugin = (id: string, members: string) => `id: ${id}
name: ${id}
description: Does ${id}.
effects: write
idempotent: false
input_schema:
  type: object
  additionalProperties: false
  required: [c]
  properties: {c: {type: string, maxLength: 100, description: The case.}}
output_schema:
  type: object
  properties: {said: {type: string, description: What was said.}}
${members}
`;

const request = "request: {method: POST, url: 'https://api.example.com/k', query: {c: '{c}'}}";

const files: Readonly<Record<string, string>> = {
  'vendor/bundle.yaml': `id: vendor
${about}credentials_schema:
  type: object
  required: [token]
  additionalProperties: false
  properties: {token: {type: string, description: The token., x-secret: true}}
inject:
  - {in: header, name: X-Token, credential: token}
errors:
  code: body.problem.id
  statuses: {410: This order was archived.}
verify: {request: {method: GET, url: 'https://api.example.com/k?c=verify'}}
`,
  'vendor/ask.yaml': plugin('ask', request),
  'vendor/named.yaml': plugin(
    'named',
    `${request}\nresponse: {errors: {message: body.problem.words, statuses: {404: No such order.}}, credentials_rejected: [403]}`,
  ),
  'vendor/handle.yaml': plugin('handle', 'handler: handle.mjs'),
  'vendor/handle.mjs': `export const run = async ({ c }, context) => {
  const { status } = await context.fetch({ method: 'POST', url: 'https://api.example.com/k', query: { c } });
  if (status !== 200) throw new Error('it broke');
  return {};
};`,
  'free/bundle.yaml': `id: free\n${about}`,
  'free/ask.yaml': plugin('ask', request),
};

/** Writes the bundles `vendor` and `free`, and starts their third party, which gives the answer that the parameter `c` names. */
export async function openVendorBundle(t: Ending, errors: Readonly<Record<string, VendorError>>) {
  let requests = 0;
  const origin = await serve(t, (request, response) => {
    requests += 1;
    request.resume();
    const name = new URL(request.url ?? '', 'http://vendor').searchParams.get('c') ?? '';
    const { status, headers, body } = errors[name] ?? { status: 200, body: '{}' };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  const folder = await temporaryFolder(t);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const settings = { BUNDLES: folder, EGRESS_OVERRIDES: JSON.stringify({ 'https://api.example.com': origin }) };
  return { settings, requests: () => requests };
}
