import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { heavySvg, smallSvg } from './payloads.ts';

/** The third party behind the bundle `starved`. It answers at once, never, with many bytes, or with a picture. */
export interface ThirdParty {
  /** Settings of a service with the bundle. */
  readonly settings: Readonly<Record<string, string>>;
  /** Settings of a service that embeds with the model of the third party, which takes 150 ms for each request. */
  readonly embedding: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const bundle = `id: starved
version: 1.0.0
name: Starved
description: Calls a third party that answers slowly.
provider: Example
developer: Quartermaster
hosts: [api.example.com]
limits: {max_response_bytes: 10485760}
`;

const declarative = (id: string) => `id: ${id}
name: ${id}
description: Calls the third party.
effects: read
idempotent: true
request: {method: POST, url: 'https://api.example.com/${id}', body: {q: '{q}'}}
response: {output: "{said: body.said}"}
input_schema:
  type: object
  additionalProperties: false
  properties:
    q: {type: string, maxLength: 1000000, description: A text.}
    file: {type: string, contentEncoding: base64, pattern: "^[A-Za-z0-9+/]+={0,2}$", description: A file.}
output_schema: {type: object, properties: {said: {type: string, description: The answer.}}}
`;

const handled = (id: string) => `id: ${id}
name: ${id}
description: Computes.
effects: read
idempotent: true
handler: ${id.replace('_', '-')}.ts
input_schema: {type: object, additionalProperties: false, properties: {q: {type: string, description: A text.}}}
output_schema: {type: object, properties: {said: {type: string, description: The answer.}}}
`;

const mebibyte = 1024 * 1024;

/** The responses by path. */
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/quick': (response) => say(response, 'quick'),
  '/endless': () => {}, // the service closes the connection
  '/large': (response) => say(response, 'large '.repeat(Math.floor((9 * mebibyte) / 6))),
  '/artifact': (response) => say(response, 'artifact '.repeat(140_000)),
  '/drawing': (response) => say(response, smallSvg),
  '/drawings': (response) => say(response, heavySvg),
};

function say(response: ServerResponse, said: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ said }));
}

/** Answers as OpenAI's `POST /v1/embeddings` does. Source: platform.openai.com/docs/api-reference/embeddings/create */
function embed(body: string, response: ServerResponse): void {
  const { input, model } = JSON.parse(body) as { input: readonly string[]; model: string }; // the service wrote it
  const data = input.map((words, index) => {
    const embedding = Array.from({ length: 16 }, (_, place) => (words.charCodeAt(place % words.length) % 32) + 1);
    return { object: 'embedding', index, embedding };
  });
  const usage = { prompt_tokens: 1, total_tokens: 1 };
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', model, data, usage }));
}

export async function openThirdParty(folder: string): Promise<ThirdParty> {
  const place = join(folder, 'bundles', 'starved');
  mkdirSync(place, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(place, name), text);
  write('bundle.yaml', bundle);
  for (const path of Object.keys(answers)) write(`${path.slice(1)}.yaml`, declarative(path.slice(1)));
  for (const id of ['compute', 'compute_endlessly']) write(`${id}.yaml`, handled(id));
  write('compute.ts', "export const run = () => ({ said: 'computed' });\n");
  write('compute-endlessly.ts', 'export const run = () => { for (;;); };\n');
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url === '/v1/embeddings') setTimeout(() => embed(body, response), 150);
    else answers[request.url ?? '']?.(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    settings: {
      BUNDLES: join(folder, 'bundles'),
      EGRESS_OVERRIDES: JSON.stringify({ 'https://api.example.com': `http://127.0.0.1:${port}` }),
    },
    embedding: { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: `http://127.0.0.1:${port}/v1`, EMBEDDING_MODEL: 'slow' },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
