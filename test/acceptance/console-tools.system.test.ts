import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { startEmbeddingService } from '../support/embedding-service.ts';
import { openProbe, type Probe } from '../support/probe-bundle.ts';

const token = 'a-token-that-nobody-types';
const sheet = 'question,answer\nWhen does it open?,At nine.\nWhen does it close?,\n';

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] the pages of the catalogue and of a collection offer their further functions', async (t) => {
  const probe = await openProbe(t);
  const settings = { ...probe.settings, SEALING_KEY: Buffer.alloc(32, 7).toString('base64url') };
  const { url } = await startEmbeddingService(t, { embed: () => [1, 0] });
  const embedding = { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: url, EMBEDDING_PRICE: '10000' };
  const opened = await openConsole(t, { settings: { ...settings, ...embedding, LOG_LEVEL: 'warn' } });
  await t.test('[console] a stored profile replaces typed credentials', () => chooseProfile(opened));
  await t.test(
    '[console] a profile is made, replaced and deleted on its page, and what was entered is never shown again',
    () => keepProfile(opened),
  );
  await t.test('[console] an end user connects an account with a link of the page, which also disconnects it', () =>
    connectAccount(opened),
  );
  await t.test(
    '[console] a form has choices with titles, dates, files and further fields, and sends their values',
    () => fillForm(opened),
  );
  await t.test('[console] an asynchronous run shows its progress and its result', () => followRun(opened, probe));
  await t.test('[console] a plugin shows how many of its latest runs had an output that differs from its schema', () =>
    countDrifted(opened),
  );
  await t.test('[console] cancelling an asynchronous run stops its plugin and its outbound calls', () =>
    stopRuns(opened, probe),
  );
  await t.test('[console] a collection can be embedded again, after its chunks, tokens and cost were shown', () =>
    embedAnew(opened),
  );
  await t.test('[console] errors and row reports of the service are shown in Chinese', () => readChinese(opened));
  assert.deepEqual(opened.pageErrors, []);
  assert.deepEqual([...opened.origins], [opened.service.filesUrl]);
});

async function openPlugin({ page, service }: OpenedConsole, path: string, q: string): Promise<void> {
  await page.goto(`${service.filesUrl}/catalogue/${path}`);
  await page.getByRole('textbox', { name: 'q' }).fill(q);
}

async function chooseProfile(opened: OpenedConsole): Promise<void> {
  const { page, service } = opened;
  const answer = await fetch(`${service.pluginsUrl}/v1/credential_profiles`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'team', bundle_id: 'guarded', credentials: { token } }),
  });
  assert.equal(answer.status, 200, await answer.text());
  await openPlugin(opened, 'guarded/read', 'profile');
  const typed = page.getByLabel(/^token/);
  await typed.waitFor();
  await page.getByLabel('Credentials from').selectOption('team');
  await typed.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByTestId('result-tree').getByText('"/read?q=profile"').waitFor();
  const shown = (await page.getByRole('tabpanel', { name: 'curl' }).textContent()) ?? '';
  assert.match(shown, /"credentials": \{\s*"\$profile": "team"\s*\}/);
  assert.ok(!(await page.content()).includes(token));
  await page.getByRole('tab', { name: 'TypeScript' }).click();
  const program = await page.getByRole('tabpanel', { name: 'TypeScript' }).locator('pre').textContent();
  assert.match(await runProgram(program ?? '', service.key), /\/read\?q=profile/);
}

/** Runs a program that imports the client, and returns what it prints. */
async function runProgram(program: string, key: string): Promise<string> {
  // The folder is below the root of the repository, so that its packages are found.
  const folder = await mkdtemp(join(process.cwd(), 'node_modules', 'console-example-'));
  try {
    await writeFile(join(folder, 'main.mjs'), program);
    const env = { PATH: process.env.PATH ?? '', QM_API_KEY: key };
    return (await promisify(execFile)(process.execPath, ['main.mjs'], { cwd: folder, env })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function keepProfile(opened: OpenedConsole): Promise<void> {
  const { page, service } = opened;
  const answers: string[] = [];
  page.on('response', (response) => {
    if (response.url().includes('/credential_profiles')) void response.text().then((text) => answers.push(text));
  });
  await openPage(opened, 'Credentials');
  await page.locator('[data-name=team]').waitFor();
  await page.getByRole('button', { name: 'New profile' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('from page');
  await dialog.getByLabel('Bundle').selectOption('guarded');
  await dialog.getByLabel(/^token/).fill(token);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText(/^name must be .*"from page"/).waitFor();
  await dialog.getByLabel('Name').fill('from-page');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  const row = page.locator('[data-name=from-page]');
  await row.getByText('guarded').waitFor();
  await page.getByText('2 items', { exact: true }).waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'profiles');

  await row.getByRole('button', { name: 'Replace' }).click();
  const field = dialog.getByLabel(/^token/);
  assert.equal(await field.inputValue(), '', 'nothing of what is sealed comes back');
  await field.fill(`${token}-2`);
  await dialog.getByRole('button', { name: 'Replace' }).click();
  await dialog.waitFor({ state: 'detached' });

  await row.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  await page.locator('[data-name=team]').waitFor();
  assert.ok(!(await page.content()).includes(token));
  assert.ok(answers.length >= 4);
  assert.ok(!answers.join().includes(token));
  assert.equal(
    await page
      .evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
      .then((storage) => String(storage).includes(token)),
    false,
  );
  const remaining = await fetch(`${service.pluginsUrl}/v1/credential_profiles/from-page`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  assert.equal(remaining.status, 404);
}

async function connectAccount(opened: OpenedConsole): Promise<void> {
  const { page, service } = opened;
  await openPage(opened, 'Credentials');
  await page.getByRole('button', { name: 'Connect an account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Bundle').selectOption('guarded');
  await dialog.getByLabel('End user').fill('user-42');
  await dialog.getByRole('button', { name: 'Connect an account' }).click();
  const link = dialog.getByRole('link', { name: 'Open the page to connect' });
  const connectUrl = (await link.getAttribute('href')) ?? '';
  await dialog.getByRole('button', { name: 'Close' }).click();
  const section = page.getByRole('region', { name: 'Connections of end users' });
  await section.getByText('not connected yet').waitFor();
  // The end user has no session of the console.
  const context = await page.context().browser()?.newContext();
  const theirs = (await context?.newPage()) ?? assert.fail();
  await theirs.goto(connectUrl);
  await theirs.getByLabel(/^token/).fill(token);
  await theirs.getByRole('button', { name: 'Connect' }).click();
  await theirs.getByText(/is connected to/).waitFor();
  await theirs.goto(connectUrl);
  await theirs.getByText(/was used before/).waitFor();
  await context?.close();
  await page.reload();
  await section.getByText('connected', { exact: false }).first().waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'connections');
  assert.ok(!(await page.content()).includes(token));
  await section.getByRole('button', { name: /^Disconnect/ }).click();
  await dialog.getByRole('button', { name: 'Disconnect' }).click();
  await section.getByText('No connections yet', { exact: false }).waitFor();
  const url = `${service.pluginsUrl}/v1/connections`;
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } });
  assert.deepEqual(((await answer.json()) as { data: unknown[] }).data, []);
  await page.getByRole('button', { name: 'OAuth clients' }).click();
  await dialog.getByLabel('Bundle').selectOption('guarded');
  await dialog.getByText(`${service.filesUrl}/connect/callback`).waitFor();
  await dialog.getByLabel('Client id').fill('client-1');
  await dialog.getByLabel('Client secret').fill(token);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('a bundle that declares', { exact: false }).waitFor();
  await dialog.getByLabel('Bundle').selectOption('gmail');
  await dialog.getByLabel('Client id').fill('client-1');
  await dialog.getByLabel('Client secret').fill(token);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
}

async function fillForm(opened: OpenedConsole): Promise<void> {
  const { page, service } = opened;
  const upload = { purpose: 'document_file', name: 'pixel.png' } as const;
  const pixel = Buffer.from('89504e470d0a1a0a0000', 'hex');
  const stored = await service.client.files.upload(new Blob([pixel]), upload);
  await page.goto(`${service.filesUrl}/catalogue/probe/form`);
  await page.getByLabel('kind').selectOption('Second kind');
  await page.getByLabel('Note note').fill('a note');
  await page.getByLabel('day', { exact: true }).fill('2026-11-29');
  await page.getByLabel('time', { exact: true }).fill('2026-11-29T10:30');
  const picture = page.getByLabel('Picture picture');
  const file = { name: 'small.bin', mimeType: 'application/octet-stream', buffer: Buffer.from('abc') };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText('More fields (3)').click();
  await page.getByLabel('level').selectOption('2');
  await page.getByLabel('tue').check();
  assert.equal(await picture.inputValue(), 'small.bin · 3 B');
  assert.deepEqual(await findingsInBoth(page), nothing, 'a form with every kind of field');
  assert.deepEqual(await ranWith(opened), {
    ...{ kind: 'b2', note: 'a note', day: '2026-11-29', time: new Date('2026-11-29T10:30').toISOString() },
    ...{ picture: 'YWJj', level: 2, days: ['tue'] },
  });
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await picture.fill(`file:${stored.file_id}`);
  assert.equal((await ranWith(opened)).picture, pixel.toString('base64'));
  const option = page.locator(`option[value="file:${stored.file_id}"]`);
  assert.equal(await option.getAttribute('label'), 'pixel.png');
}

/** Runs the plugin that says its input, and returns that. */
async function ranWith({ page }: OpenedConsole): Promise<Readonly<Record<string, unknown>>> {
  const answered = page.waitForResponse((response) => response.url().endsWith('/v1/execute'));
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const { data } = (await (await answered).json()) as { data: { data: { said: string } } }; // the contract of the path
  const { time, ...input } = JSON.parse(data.data.said);
  return { ...input, time: new Date(time).toISOString() };
}

async function followRun(opened: OpenedConsole, probe: Probe): Promise<void> {
  const { page } = opened;
  const path = '/read?q=later';
  probe.hold(path);
  await openPlugin(opened, 'probe/read', 'later');
  await page.getByRole('button', { name: 'Run in the background' }).click();
  await page.getByRole('heading', { level: 1, name: 'probe/read' }).waitFor();
  await page.getByText('Running', { exact: true }).waitFor();
  await probe.arrived(path);
  probe.release();
  await page.getByTestId('result-tree').getByText(`"${path}"`).waitFor();
  await page.getByText('Succeeded', { exact: true }).waitFor();
  await page.getByText(/^Available until/).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Stop run' }).count(), 0);
}

async function countDrifted(opened: OpenedConsole): Promise<void> {
  const { page } = opened;
  const count = page.getByText(/^1 of the last \d+ runs? had an output that differs from the output schema$/);
  await openPlugin(opened, 'probe/read', 'drift');
  assert.equal(await count.count(), 0);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await count.waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'a plugin with a drifted run');
  await page.getByRole('link', { name: 'Open the latest of them' }).click();
  await page.getByRole('heading', { level: 1, name: 'probe/read' }).waitFor();
}

async function stopRuns(opened: OpenedConsole, probe: Probe): Promise<void> {
  const { page } = opened;
  const path = '/write?q=held';
  probe.hold(path);
  await openPlugin(opened, 'probe/write', 'held');
  await page.getByRole('button', { name: 'Run in the background' }).click();
  await probe.arrived(path);
  await page.getByRole('button', { name: 'Stop run' }).click();
  await page.getByText('Cancelled', { exact: true }).waitFor();
  await probe.aborted(path);

  await openPlugin(opened, 'probe/think', 'forever');
  await page.getByRole('button', { name: 'Run in the background' }).click();
  await page.getByText('50% · thinking of forever').waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'a run while it goes on');
  await page.getByRole('button', { name: 'Stop run' }).click();
  await page.getByText('Cancelled', { exact: true }).waitFor();
}

async function embedAnew({ page, service }: OpenedConsole): Promise<void> {
  const { client } = service;
  const { collection_id: collection } = await client.collections.create({ name: 'Teas' });
  const created = await client.records.create(collection, { content: 'Green tea from Uji.' });
  await settledRecord(client, collection, created.record_id);
  await page.goto(`${service.filesUrl}/collections/${collection}`);
  await page.locator('[data-vectors=current]').waitFor();
  await page.getByRole('button', { name: 'Re-embed' }).click();
  const { embedding_estimate } = await client.collections.reembed(collection, { dry_run: true });
  const tokens = embedding_estimate?.num_tokens ?? 0;
  assert.ok(tokens > 0);
  const text = `1 chunk with about ${tokens} tokens will be sent to openai:text-embedding-3-small.`;
  await page.getByText(`${text} Estimated cost: ${tokens / 100}.`).waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'the estimate of an embedding');
  const answered = page.waitForResponse((response) => response.url().endsWith('/reembed'));
  await page.getByRole('dialog').getByRole('button', { name: 'Re-embed' }).click();
  assert.equal((await answered).status(), 200);
  await page.getByText('Re-embedding started.').waitFor();
  await page.locator('[data-vectors=current]').waitFor();
}

async function readChinese(opened: OpenedConsole): Promise<void> {
  const { page, service } = opened;
  const { client } = service;
  const upload = { purpose: 'qa_record_file', name: 'hours.csv', content: new Blob([sheet]) } as const;
  const file = await client.files.upload(upload.content, upload);
  const { collection_id: collection } = await client.collections.create({ name: 'Hours', type: 'qa' });
  const created = await client.records.create(collection, { type: 'qa_sheet', file_id: file.file_id });
  await settledRecord(client, collection, created.record_id);
  await openPlugin(opened, 'probe/read', 'fail');
  await page.getByRole('button', { name: '中文' }).click();
  await page.getByRole('button', { name: '运行', exact: true }).click();
  await page.getByText(/^第三方拒绝了此请求/).waitFor();
  await page.goto(`${service.filesUrl}/collections/${collection}/records/${created.record_id}`);
  await page.getByText('答案单元格为空。').waitFor();
  await page.goto(`${service.filesUrl}/runs/xrunnothing`);
  await page.getByText(/^找不到该对象/).waitFor();
}
