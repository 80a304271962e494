import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { repeatsKills } from '../support/kill-depth.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const rounds = repeatsKills ? 20 : 4;
const lanes = 8;
const uploadsPerRound = 12;

/**
 * Kills the service repeatedly during uploads. An upload without a response may be stored or not, but never partially.
 */
test('[durable] after each kill −9 during uploads, 4 times and in the proof 20, every acknowledged file is complete and no file is partial', async (t) => {
  const folder = await temporaryFolder(t);
  /** The hash of each sent file, by name. */
  const sent = new Map<string, string>();
  /** The hash of each acknowledged file, by id. */
  const acknowledged = new Map<string, string>();

  for (let round = 0; round < rounds; round++) {
    const service = await startService(t, { folder });
    await uploadUntilKilled(service, { round, sent, acknowledged, killAfter: randomInt(1, uploadsPerRound) });
  }
  assert.ok(sent.size >= rounds * lanes, `${sent.size} uploads were sent`);
  assert.ok(acknowledged.size >= rounds, `${acknowledged.size} uploads were acknowledged`);

  const service = await startService(t, { folder });
  const visible = await allFiles(service);
  for (const [id, hash] of acknowledged) assert.equal(visible.get(id)?.sha256, hash, `${id} was acknowledged`);
  for (const [id, file] of visible) {
    assert.equal(sent.get(file.file_name), file.sha256, `${id} is a file that was sent`);
    const bytes = Buffer.from(await (await service.client.files.content(id)).arrayBuffer());
    assert.equal(createHash('sha256').update(bytes).digest('hex'), file.sha256, `${id} is whole`);
  }
  assert.deepEqual(await readdir(join(folder, 'staging')), [], 'nothing is left of uploads that were cut');
  assert.equal(await service.stop(), 0);
});

interface Round {
  readonly round: number;
  readonly sent: Map<string, string>;
  readonly acknowledged: Map<string, string>;
  /** The number of acknowledged uploads in this round after which the service is killed. */
  readonly killAfter: number;
}

async function uploadUntilKilled(
  service: StartedService,
  { round, sent, acknowledged, killAfter }: Round,
): Promise<void> {
  let acknowledgedNow = 0;
  let killed: Promise<void> | undefined;
  await Promise.all(
    Array.from({ length: lanes }, async (_, worker) => {
      for (let i = 0; i < uploadsPerRound && killed === undefined; i++) {
        const name = `${round}-${worker}-${i}.txt`;
        const content = Buffer.from(randomBytes(randomInt(1, 100_000)).toString('hex'));
        const hash = createHash('sha256').update(content).digest('hex');
        sent.set(name, hash);
        const upload = { purpose: 'record_file', name, content: new Blob([content]) } as const;
        const file = await service.client.files.upload(upload.content, upload).catch(() => undefined);
        if (file === undefined) continue;
        acknowledged.set(file.file_id, hash);
        if (++acknowledgedNow >= killAfter) killed ??= service.kill();
      }
    }),
  );
  await (killed ?? service.kill());
}

async function allFiles(service: StartedService) {
  const files = new Map<string, { file_name: string; sha256: string }>();
  let after: string | undefined;
  for (;;) {
    const page = await service.client.files.list({ limit: 100, ...(after === undefined ? {} : { after }) });
    for (const file of page.data) files.set(file.file_id, file);
    after = page.data.at(-1)?.file_id;
    if (!page.has_more) return files;
  }
}
