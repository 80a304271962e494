import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFiles } from '../support/find-files.ts';
import { send } from '../support/http.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';
import { writeBundle } from '../support/write-bundle.ts';

const canary = 'canary-0b9d4c7e61f2';

/** The attempts of a handler, each with the required status and outcome. A denied read returns `denied`. */
const attempts: ReadonlyArray<readonly [name: string, body: string, status: number, outcome: string | null]> = [
  ['environment', 'return { seen: JSON.stringify(process.env) };', 200, null],
  ['own_proc', "return { seen: tryRead('/proc/self/environ') };", 200, null],
  ['parent_proc', "return { seen: tryRead('/proc/' + process.ppid + '/environ') };", 200, null],
  [
    'opens_sockets',
    'try { process.getBuiltinModule("node:net").connect(9, "127.0.0.1").on("error", () => {}); return { seen: "connected" }; } catch { return { seen: "denied" }; }',
    200,
    null,
  ],
  ['loops', 'for (;;);', 504, null],
  [
    'buffers',
    'const kept = []; for (let i = 0; i < 64; i++) kept.push(Buffer.alloc(32 * 2 ** 20, 1)); return { seen: String(kept.length) };',
    500,
    'out_of_memory',
  ],
  ['exits', 'process.exit(0);', 500, 'crashed'],
  [
    'prints',
    "const line = 'x'.repeat(2 ** 20); for (let i = 0; i < 100; i++) console.log(line); return { seen: 'printed' };",
    200,
    null,
  ],
];

async function writeHostileBundle(folder: string): Promise<void> {
  const files: Record<string, string> = {};
  for (const [name, body] of attempts) {
    const program = `${name.replaceAll('_', '-')}.mjs`;
    files[`${name}.yaml`] = `id: ${name}
name: ${name}
description: One attempt.
effects: read
idempotent: true
input_schema: { type: object, properties: {} }
output_schema: { type: object, properties: { seen: { type: string, description: What was seen. } } }
handler: ${program}
`;
    files[program] =
      `const tryRead = (path) => { try { return process.getBuiltinModule('node:fs').readFileSync(path, 'utf8'); } catch { return 'denied'; } };
       export const run = () => { ${body} };`;
  }
  const more = `hosts: []
credentials_schema:
  type: object
  properties:
    TOKEN: { type: string, description: A secret., x-secret: true }
  required: [TOKEN]
limits: { timeout_ms: 3000, memory_mb: 256 }`;
  await writeBundle(folder, 'hostile', { more, ...files });
}

test('[hostile] a hostile plugin fails only its own run, with the right error code, and no credential is found anywhere', async (t) => {
  const bundles = await temporaryFolder(t);
  const folder = await temporaryFolder(t);
  await writeHostileBundle(bundles);
  const service = await startService(t, {
    folder,
    settings: { BUNDLES: bundles, DATABASE_URL: '', LOG_LEVEL: 'trace' },
  });
  for (const [plugin, , status, outcome] of attempts) {
    const { status: answered, text, body } = await execute(service, plugin);
    assert.equal(answered, status, `${plugin}: ${text}`);
    const { error, data } = body;
    if (outcome !== null) assert.equal(error?.details?.[0]?.outcome, outcome, `${plugin}: ${text}`);
    const seen = data?.data.seen ?? '';
    assert.ok(!seen.includes('QUARTERMASTER_') && !seen.includes('PATH='), `${plugin} saw ${seen}`);
    assert.notEqual(seen, 'connected');
    assert.ok(!text.includes(canary), plugin);

    const other = await service.client.plugins.run('arithmetic/add', { number_1: 2, number_2: 3 });
    assert.deepEqual(other.data, { result: 5 }, `after ${plugin}`);
  }
  assert.equal(await service.stop(), 0);
  assert.ok(!service.log().includes(canary), 'the log has no credential');
  assert.deepEqual(await findFiles(folder, canary), [], 'no file has a credential');
});

const execute = (service: StartedService, plugin: string) =>
  send(`${service.pluginsUrl}/v1/execute`, {
    json: { bundle_id: 'hostile', plugin_id: plugin, input_params: {}, credentials: { TOKEN: canary } },
  });
