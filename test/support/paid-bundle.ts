import { mkdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { serve } from './http.ts';
import { type Ending, temporaryFolder } from './service.ts';

/** Answers a request of a plugin. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const about = `version: 1.0.0
name: Paid
description: Asks a third party that charges for each request.
provider: Example
developer: Quartermaster
hosts: [api.example.com]
credentials_schema:
  type: object
  required: [token]
  additionalProperties: false
  properties: {token: {type: string, description: The token., x-secret: true}}
inject:
  - {in: header, name: X-Token, credential: token}
`;

const plugin = (id: string, members: string) => `id: ${id}
name: ${id}
description: Does ${id}.
effects: write
idempotent: false
input_schema:
  type: object
  additionalProperties: false
  properties: {}
output_schema:
  type: object
  required: [said]
  properties: {said: {type: string, description: What was said.}}
${members}
`;

const request = (path: string, more = '') =>
  `request: {method: POST, url: 'https://api.example.com/${path}'}\nresponse: {${more}}`;

const ask = `await context.fetch({ method: 'POST', url: 'https://api.example.com/handler' });`;
const handlers = {
  long: `${ask} return { said: 'x'.repeat(17 * 2 ** 20) };`,
  nested: `${ask} let said = 1; for (let level = 0; level < 150; level += 1) said = [said]; return { said };`,
  leaving: `${ask} process.exit(1);`,
  throwing: `${ask} throw new Error('it broke');`,
  rejecting: `${ask} context.reject('no such thing');`,
  // The second request fails after the third party was paid for the first one.
  second: `${ask} await context.fetch({ url: 'https://api.example.com/second' }).then((answer) => { if (answer.status !== 200) throw new Error('it broke'); });`,
  elsewhere: `${ask} await context.fetch({ url: 'https://elsewhere.example.com/' });`,
  fetching: `await context.fetch({ method: 'POST', url: 'https://api.example.com/large' }); return { said: 'never' };`,
  caught: `await context.fetch({ method: 'POST', url: 'https://api.example.com/large' }).catch(() => {}); return { said: 'yes' };`,
};

const files: Readonly<Record<string, string>> = {
  'bundle.yaml': `id: paid\n${about}`,
  'any.yaml': plugin('any', request('any', "output: '{said: body.said}'")),
  'other.yaml': plugin('other', request('any', 'output: body')),
  'copied.yaml': plugin('copied', request('any', `output: '{said: body | ${'[@, @] | '.repeat(24)}to_string(@)}'`)),
  'large.yaml': plugin('large', request('large', 'format: text')),
  ...Object.fromEntries(
    Object.entries(handlers).flatMap(([id, body]) => [
      [`${id}.yaml`, plugin(id, `handler: ${id}.mjs`)],
      [`${id}.mjs`, `export const run = async (_input, context) => { ${body} };`],
    ]),
  ),
};

/** Writes the bundle `paid` and starts its third party on 127.0.0.1, which counts the requests. */
export async function openPaidBundle(t: Ending, answer: Answer) {
  let requests = 0;
  const url = await serve(t, (request, response) => {
    requests += 1;
    answer(request, response);
  });
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'paid'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'paid', name), text);
  const settings = {
    EGRESS_OVERRIDES: JSON.stringify({ 'https://api.example.com': url }),
    ...{ EGRESS_ALLOW: '127.0.0.1', BUNDLES: folder, ISOLATION: 'process' },
  };
  return { url, folder, settings, requests: () => requests };
}
