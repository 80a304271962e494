import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { connectClient, settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { createKey } from '../support/mcp-knowledge.ts';
import { runCommand } from '../support/run-command.ts';
import type { StartedService } from '../support/service.ts';

interface Subject {
  readonly opened: OpenedConsole;
  /** The ids of a project beside the first one, and of its collection. */
  readonly library: string;
  readonly collection: string;
}

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] the URL holds the state of a page', async (t: TestContext) => {
  const opened = await openConsole(t);
  const subject = { opened, ...(await fillLibrary(opened.service)) };
  await t.test('[console] a link opens the search of another project with its question and results', () =>
    openLink(subject),
  );
  await t.test('[console] reloading keeps the results, and the back button returns to them and to the documents', () =>
    goBack(subject),
  );
  await t.test('[console] filters of lists are in the URL and survive a reload', () => keepFilters(subject));
  await t.test('[console] another project opens the list of a section, not an object of the former project', () =>
    switchProject(subject),
  );
  await t.test('[console] a link to a project or a page that does not exist says so', () => openMissing(subject));
  assert.deepEqual(opened.pageErrors, []);
});

/** Creates a project with a collection, a file and a sheet. */
async function fillLibrary(service: StartedService) {
  const { output: library } = await runCommand(service, 'project', 'create', 'library');
  const client = connectClient(service, await createKey(service, 'library', 'collections,files'));
  const { collection_id: collection } = await client.collections.create({ name: 'Rules', type: 'text' });
  const { record_id: record } = await client.records.create(collection, {
    title: 'House rules',
    content: 'Otters may borrow 10 books.',
  });
  await settledRecord(client, collection, record);
  await client.files.upload(new Blob(['# Rules\n']), { purpose: 'record_file', name: 'rules.md' });
  await client.files.upload(new Blob(['question,answer\nOpen?,Yes\n']), { purpose: 'qa_record_file', name: 'faq.csv' });
  return { library, collection };
}

function searchUrl({ opened, library, collection }: Subject, question: string): string {
  return `${opened.service.filesUrl}/collections/${collection}?project=${library}&tab=search&q=${question}`;
}

async function openLink(subject: Subject): Promise<void> {
  const { opened, library } = subject;
  const { page } = opened;
  await openPage(opened, 'Collections');
  assert.notEqual(new URL(page.url()).searchParams.get('project'), library, 'the page is of the first project');
  await page.goto(searchUrl(subject, '10'));
  await page.getByRole('heading', { level: 1, name: 'Rules' }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Otters may borrow' }).waitFor();
  assert.equal(await page.getByLabel('Search this collection').inputValue(), '10');
  assert.equal(await page.getByLabel('Project').inputValue(), library);
  assert.equal(await page.title(), 'Search · Rules · Quartermaster');
}

async function goBack(subject: Subject): Promise<void> {
  const { page, service } = subject.opened;
  await page.goto(`${service.filesUrl}/collections/${subject.collection}?project=${subject.library}`);
  await page.getByRole('tab', { name: 'Search' }).click();
  await page.getByLabel('Search this collection').fill('What may otters borrow?');
  await page.getByRole('button', { name: 'Search' }).click();
  const result = page.getByRole('listitem').filter({ hasText: 'Otters may borrow' });
  await result.waitFor();
  assert.equal(new URL(page.url()).searchParams.get('q'), 'What may otters borrow?');
  await page.reload();
  await result.getByRole('link', { name: 'Open in document' }).click();
  await page.getByRole('heading', { level: 1, name: 'House rules' }).waitFor();
  await page.goBack();
  await result.waitFor();
  assert.equal(await page.getByLabel('Search this collection').inputValue(), 'What may otters borrow?');
  await page.goBack();
  await page.getByText('Enter a question', { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('tab', { name: 'Documents', selected: true }).waitFor();
  await page.getByRole('link', { name: /^House rules/ }).waitFor();
}

async function keepFilters({ opened }: Subject): Promise<void> {
  const { page } = opened;
  await openPage(opened, 'Files');
  await page.getByRole('button', { name: 'rules.md', exact: true }).waitFor();
  await page.getByLabel('Search by name').pressSequentially('faq');
  await page.getByRole('button', { name: 'rules.md', exact: true }).waitFor({ state: 'detached' });
  await page.getByLabel('Purpose').selectOption('Questions and answers');
  await page.waitForURL((url) => url.searchParams.get('name') === 'faq' && url.searchParams.has('purpose'));
  await page.reload();
  await page.getByRole('button', { name: 'faq.csv', exact: true }).waitFor();
  assert.equal(await page.getByLabel('Search by name').inputValue(), 'faq');
  assert.equal(await page.getByRole('button', { name: 'rules.md', exact: true }).count(), 0);
  await openPage(opened, 'Catalogue');
  await page.getByLabel('Search bundles and plugins').pressSequentially('calculator');
  await page.waitForURL((url) => url.searchParams.get('q') === 'calculator');
  await page.goBack();
  assert.equal(await page.getByLabel('Search by name').inputValue(), 'faq');
  await page.goForward();
  await page.getByRole('link', { name: /^Evaluate/ }).waitFor();
  assert.equal(await page.getByLabel('Search bundles and plugins').inputValue(), 'calculator');
}

async function switchProject(subject: Subject): Promise<void> {
  const { page, service } = subject.opened;
  await page.goto(searchUrl(subject, 'otters'));
  await page.getByRole('listitem').filter({ hasText: 'Otters may borrow' }).waitFor();
  await page.getByLabel('Project').selectOption('default');
  await page.getByRole('heading', { level: 1, name: 'Collections' }).waitFor();
  await page.getByText('No collections yet').waitFor();
  assert.equal(new URL(page.url()).pathname, '/collections');
  await page.goto(`${service.filesUrl}/files`);
  await page.getByText('No files yet').waitFor();
  assert.notEqual(new URL(page.url()).searchParams.get('project'), subject.library, 'the last one chosen');
}

async function openMissing({ opened, library }: Subject): Promise<void> {
  const { page, service } = opened;
  await page.goto(`${service.filesUrl}/runs/no/such`);
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  await page.goto(`${service.filesUrl}/collections?project=projnothing`);
  await page.getByRole('heading', { level: 1, name: 'Project not found' }).waitFor();
  await page.getByRole('combobox', { name: 'Project' }).selectOption(library);
  await page.getByText('Rules').waitFor();
}
