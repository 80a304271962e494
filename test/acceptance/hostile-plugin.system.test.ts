import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

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
  const bundle = join(folder, 'hostile');
  await mkdir(bundle, { recursive: true });
  await writeFile(
    join(bundle, 'bundle.yaml'),
    [
      'id: hostile',
      'version: 1.0.0',
      'name: Hostile',
      'description: Tries what it must not.',
      'provider: Test',
      'developer: Test',
      'hosts: []',
      'credentials_schema:',
      '  type: object',
      '  properties:',
      '    TOKEN: { type: string, description: A secret., x-secret: true }',
      '  required: [TOKEN]',
      'limits: { timeout_ms: 3000, memory_mb: 256 }',
      '',
    ].join('\n'),
  );
  for (const [name, body] of attempts) {
    await writeFile(
      join(bundle, `${name}.yaml`),
      [
        `id: ${name}`,
        `name: ${name}`,
        'description: One attempt.',
        'effects: read',
        'idempotent: true',
        'input_schema: { type: object, properties: {} }',
        'output_schema: { type: object, properties: { seen: { type: string, description: What was seen. } } }',
        `handler: ${name.replaceAll('_', '-')}.mjs`,
        '',
      ].join('\n'),
    );
    await writeFile(
      join(bundle, `${name.replaceAll('_', '-')}.mjs`),
      `const tryRead = (path) => { try { return process.getBuiltinModule('node:fs').readFileSync(path, 'utf8'); } catch { return 'denied'; } };
       export const run = () => { ${body} };`,
    );
  }
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
    const { answer, text } = await execute(service, plugin);
    assert.equal(answer.status, status, `${plugin}: ${text}`);
    const { error, data } = JSON.parse(text) as {
      error?: { details?: Array<{ outcome?: string }> };
      data?: { data: { seen?: string } };
    };
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
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const bytes = await readFile(join(file.parentPath, file.name));
    assert.ok(!bytes.includes(canary), `${file.name} has no credential`);
  }
});

async function execute(service: StartedService, plugin: string) {
  const answer = await fetch(`${service.pluginsUrl}/v1/execute`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ bundle_id: 'hostile', plugin_id: plugin, input_params: {}, credentials: { TOKEN: canary } }),
  });
  return { answer, text: await answer.text() };
}
