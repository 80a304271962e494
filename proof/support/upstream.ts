import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** The third party behind the bundle `proof`. It counts its requests. */
export interface Upstream {
  /** Settings of a service with the bundle. */
  readonly settings: Readonly<Record<string, string>>;
  /** Returns the number of requests of the plugin with this text. */
  count(plugin: 'read' | 'write', text: string): number;
  close(): Promise<void>;
}

const bundle = `id: proof
version: 1.0.0
name: Proof
description: Calls a third party that counts.
provider: Example
developer: Quartermaster
hosts: [api.example.com]
`;

const plugin = (id: string, effects: string, idempotent: boolean, method: string) => `id: ${id}
name: ${id}
description: Sends a text to the third party.
effects: ${effects}
idempotent: ${idempotent}
request: {method: ${method}, url: 'https://api.example.com/${id}', query: {q: '{q}'}}
input_schema:
  type: object
  additionalProperties: false
  required: [q]
  properties:
    q: {type: string, maxLength: 100, description: The text.}
output_schema:
  type: object
  properties: {said: {type: string, description: The path that was asked.}}
`;

/** Starts the third party and writes the bundle below `folder`. `onCall` receives every requested path. */
export async function openUpstream(folder: string, onCall: (path: string) => void = () => {}): Promise<Upstream> {
  const bundles = join(folder, 'bundles');
  mkdirSync(join(bundles, 'proof'), { recursive: true });
  writeFileSync(join(bundles, 'proof', 'bundle.yaml'), bundle);
  writeFileSync(join(bundles, 'proof', 'read.yaml'), plugin('read', 'read', true, 'GET'));
  writeFileSync(join(bundles, 'proof', 'write.yaml'), plugin('write', 'write', false, 'POST'));
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    onCall(path);
    request.resume();
    const list = path === '/read?q=list' ? { list: Array.from({ length: 1000 }, (_, item) => `item ${item}`) } : {};
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ said: path, ...list }));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    settings: {
      BUNDLES: bundles,
      EGRESS_OVERRIDES: JSON.stringify({ 'https://api.example.com': `http://127.0.0.1:${port}` }),
    },
    count: (name, text) => counts.get(`/${name}?q=${text}`) ?? 0,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
