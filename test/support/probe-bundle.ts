import { mkdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { serve } from './http.ts';
import { type Ending, temporaryFolder } from './service.ts';

/** A bundle whose third party is controlled by the test: it answers on request and records its requests. */
export interface Probe {
  /** Settings of a service with the bundles `probe` and `guarded` (the same with a credential). */
  readonly settings: Readonly<Record<string, string>>;
  /** Lets requests for this path wait until `release`. */
  hold(path: string): void;
  release(): void;
  /** Resolves when a request for the path has arrived. */
  arrived(path: string): Promise<void>;
  /** Resolves when the caller of a held request has disconnected. */
  aborted(path: string): Promise<void>;
  count(path: string): number;
}

const bundle = (id: string, more: string) => `id: ${id}
version: 1.0.0
name: Probe
description: Asks a third party that the test holds in its hands.
provider: Example
developer: Quartermaster
hosts: [api.example.com]
${more}`;

const guard = `credentials_schema:
  type: object
  required: [token]
  additionalProperties: false
  properties: {token: {type: string, description: The token., x-secret: true}}
inject:
  - {in: header, name: X-Token, credential: token}
`;

const plugin = (id: string, does: string, members: string) => `id: ${id}
name: ${id}
description: Does ${id}.
${does}
input_schema:
  type: object
  additionalProperties: false
  required: [q]
  properties:
    q: {type: string, maxLength: 100, description: What to ask.}
output_schema:
  type: object
  properties: {said: {type: string, description: What was said.}}
${members}
`;

const request = (method: string, path: string) =>
  `request: {method: ${method}, url: 'https://api.example.com${path}', query: {q: '{q}'}}`;

const thinking = `export const run = async ({ q }, context) => {
  context.progress(0.5, 'thinking of ' + q);
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (q === 'forever') for (;;);
  return { said: q };
};
`;

const form = `id: form
name: form
description: Says what it is given.
effects: read
idempotent: true
input_schema:
  type: object
  additionalProperties: false
  required: [kind]
  properties:
    note: {type: string, maxLength: 50, title: Note, description: What to note.}
    day: {type: string, format: date, description: A day.}
    time: {type: string, format: date-time, description: A time.}
    picture: {type: string, contentEncoding: base64, title: Picture, description: A picture.}
    level: {enum: [1, 2], description: A level.}
    days: {type: array, items: {type: string, enum: [mon, tue]}, description: Days.}
    last: {type: string, maxLength: 50, description: The last one.}
    kind: {description: The kind., oneOf: [{const: a1, title: First kind}, {const: b2, title: Second kind}]}
output_schema:
  type: object
  properties: {said: {type: string, description: What was said.}}
handler: form.mjs
`;

export async function openProbe(t: Ending): Promise<Probe> {
  const folder = await temporaryFolder(t);
  for (const [id, more] of Object.entries({ probe: '', guarded: guard })) {
    await mkdir(join(folder, id));
    const files = {
      'bundle.yaml': bundle(id, more),
      'read.yaml': plugin('read', 'effects: read\nidempotent: true', request('GET', '/read')),
      'write.yaml': plugin('write', 'effects: write\nidempotent: false', request('POST', '/write')),
      'think.yaml': plugin('think', 'effects: read\nidempotent: true', 'handler: think.mjs'),
      'think.mjs': thinking,
      'form.yaml': form,
      'form.mjs': 'export const run = async (input) => ({ said: JSON.stringify(input) });',
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, id, name), text);
  }
  const third = await openThirdParty(t);
  const overrides = JSON.stringify({ 'https://api.example.com': third.origin });
  return {
    settings: { BUNDLES: folder, EGRESS_OVERRIDES: overrides, LOG_LEVEL: 'trace', PLUGIN_SECONDS: '600' },
    ...third,
  };
}

async function openThirdParty(t: Ending) {
  const counts = new Map<string, number>();
  const gone = new Set<string>();
  const held = new Set<string>();
  const waiting = new Set<() => void>();
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const look of watchers) look();
  };
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!holds()) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  const origin = await serve(t, (request, response) => {
    const path = request.url ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    if (held.has(path)) {
      waiting.add(() => reply(response, path));
      response.once('close', () => {
        if (!response.writableFinished) gone.add(path);
        changed();
      });
    } else reply(response, path);
    changed();
  });
  return {
    origin,
    hold: (path: string) => void held.add(path),
    release: () => {
      held.clear();
      for (const answer of waiting) answer();
      waiting.clear();
    },
    arrived: (path: string) => until(() => counts.has(path)),
    aborted: (path: string) => until(() => gone.has(path)),
    count: (path: string) => counts.get(path) ?? 0,
  };
}

function reply(response: ServerResponse, path: string): void {
  const status = path.endsWith('q=fail') ? 400 : 200;
  const said = path.endsWith('q=drift') ? 5 : path;
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ said }));
}
