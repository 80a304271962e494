import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { dropFiles, type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { encryptedPdf } from '../support/sample-pdf.ts';
import { type Ending, share, temporaryFolder } from '../support/service.ts';

const opened = share(async (t: Ending) => ({ ...(await openConsole(t)), files: await temporaryFolder(t) }));
type Opened = OpenedConsole & { readonly files: string };

async function newCollection({ service }: Opened, name: string, type: 'text' | 'qa' = 'text'): Promise<string> {
  return (await service.client.collections.create({ name, type })).collection_id;
}

async function importInto(
  { page, service, files, ...others }: Opened,
  id: string,
  name: string,
  content: string | Buffer,
) {
  await page.goto(`${service.filesUrl}/collections/${id}`);
  await page.getByTestId('drop-area').waitFor();
  const path = join(files, name);
  await writeFile(path, content);
  await dropFiles({ page, service, ...others }, [path]);
}

/** The text of the page in the language. */
async function textIn({ page }: Opened, language: 'en' | 'zh'): Promise<string> {
  await page.evaluate((chosen) => localStorage.setItem('quartermaster-language', chosen), language);
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  return (await page.locator('main').textContent()) ?? '';
}

test('[console] a document with a password is read with the password that the user enters', async () => {
  const own = await opened();
  const { page, pageErrors } = own;
  const id = await newCollection(own, 'Locked');
  await importInto(own, id, 'locked.pdf', encryptedPdf('geheim'));
  await page.locator('[data-record="locked.pdf"] [data-status="error"]').waitFor();
  await page.locator('[data-record="locked.pdf"]').click();
  await page.getByLabel('Password of the file', { exact: true }).waitFor();
  assert.match(await textIn(own, 'zh'), /文件受密码保护。请输入密码以读取文件。/);
  const english = await textIn(own, 'en');
  assert.match(english, /The file is protected by a password\. Enter the password\./);
  assert.doesNotMatch(english, /file_encrypted|`password`/);
  assert.equal(await page.getByRole('button', { name: 'Reprocess', exact: true }).count(), 0);

  await page.getByLabel('Password of the file', { exact: true }).fill('wrong');
  await page.getByRole('button', { name: 'Reprocess with this password' }).click();
  await page.getByText('The password is not correct. Enter it again.').waitFor();
  await page.getByLabel('Password of the file', { exact: true }).fill('geheim');
  await page.getByRole('button', { name: 'Reprocess with this password' }).click();
  await page.locator('[data-status="ready"]').waitFor();
  await page.getByText('Hello from behind a password').first().waitFor();
  assert.deepEqual(pageErrors, []);
});

test('[console] documents that need a password are left out when several are processed again', async () => {
  const own = await opened();
  const { page, service } = own;
  const id = await newCollection(own, 'Several');
  await service.client.records.create(id, { type: 'text', title: 'Open', content: 'The otters sleep.' });
  await importInto(own, id, 'first.pdf', encryptedPdf('geheim'));
  const locked = page.locator('[data-record="first.pdf"] [data-status="error"]');
  await locked.waitFor();
  await page.locator('[data-record="Open"] [data-status="ready"]').waitFor();
  const retried: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/retry')) retried.push(request.url());
  });
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('button', { name: 'Reprocess', exact: true }).click();
  await page.getByText('Reprocessing 1 document.', { exact: true }).waitFor();
  await page
    .getByText('1 document was left out: each needs the password of its file. Enter it on the page of the document.')
    .waitFor();
  assert.equal(retried.length, 1, 'only the document without a password is processed again');
  assert.equal(await page.getByRole('checkbox', { name: 'Select first.pdf' }).isChecked(), true);
  assert.equal(await page.getByRole('checkbox', { name: 'Select Open' }).isChecked(), false);

  await importInto(own, id, 'second.pdf', encryptedPdf('secret'));
  await page.locator('[data-record="second.pdf"] [data-status="error"]').waitFor();
  await textIn(own, 'zh');
  for (const name of ['first.pdf', 'second.pdf']) {
    await page.getByRole('checkbox', { name }).check();
  }
  await page.getByRole('button', { name: '重新处理', exact: true }).click();
  await page.getByText('已跳过 2 个文档：各文档需要其文件的密码。请在文档页面输入。').waitFor();
  assert.equal(retried.length, 1);
  await textIn(own, 'en');
});

test('[console] rows that an import with chosen columns rejects are shown without a reload', async () => {
  const own = await opened();
  const { page } = own;
  const id = await newCollection(own, 'Sheets', 'qa');
  await importInto(
    own,
    id,
    'faq.csv',
    'Titel;Body;Nr\nOpen?;From nine;1\n;No question;2\nWhere?;In the hall;3\nWhen?;;4\n',
  );
  await page.locator('[data-record="faq.csv"] [data-status="error"]').waitFor();
  await page.locator('[data-record="faq.csv"]').click();
  const form = page.getByRole('region', { name: 'Columns of the sheet' });
  await form.getByLabel('Question').selectOption('Titel');
  await form.getByLabel('Answer').selectOption('Body');
  assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /columns_not_found|`columns`|`details`/);
  await form.getByRole('button', { name: 'Import with these columns' }).click();
  await page.locator('[data-status="partial"]').waitFor();
  await page.getByRole('region', { name: 'Skipped rows' }).getByRole('button', { name: 'Download CSV' }).waitFor();
  const rows = page.getByRole('region', { name: 'Skipped rows' }).getByRole('row');
  assert.equal(await rows.count(), 2);
});

test('[console] the search says when a question has no good match, and does not mark stop words', async () => {
  const own = await opened();
  const { page, service } = own;
  const id = await newCollection(own, 'Library');
  const path = `/collections/${id}`;
  await service.client.chunks.create(id, {
    content: 'The catalogue of the museum: how it began, and who can see it. I saw it.',
  });
  await service.client.chunks.create(id, { content: 'The otters of the river eat the fish that I can see.' });
  await page.goto(`${service.filesUrl}${path}?tab=search&q=how+can+I+contact+the+helpdesk+about+otters+quickly+today`);
  await page.getByText('No good match', { exact: true }).first().waitFor();
  await page.getByText(/^These passages match the question only weakly\./).waitFor();
  const marked = await page.locator('mark').allTextContents();
  assert.deepEqual([...new Set(marked)], ['otters']);
  assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /Matched terms: [^.]*\b(?:how|can|the)\b/);

  await page.goto(`${service.filesUrl}${path}?tab=search&q=otters+river+fish`);
  await page.locator('mark').first().waitFor();
  assert.equal(await page.getByText('No good match', { exact: true }).count(), 0);
});

test('[console] collections and documents are renamed, and the settings say which names cannot be changed', async () => {
  const own = await opened();
  const { page, service } = own;
  const id = await newCollection(own, 'Old name');
  const created = await service.client.records.create(id, {
    type: 'text',
    title: 'Draft',
    content: 'The otters sleep.',
  });
  const rename = async (name: string) => {
    await page.getByRole('button', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('New name').fill(name);
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  await page.goto(`${service.filesUrl}/collections/${id}`);
  await rename('New name of it');
  assert.equal((await service.client.collections.get(id)).name, 'New name of it');
  await page.goto(`${service.filesUrl}/collections/${id}/records/${created.record_id}`);
  await rename('Final');
  await page.locator('[data-status="ready"]').waitFor();
  assert.equal((await service.client.records.get(id, created.record_id)).title, 'Final');
  await openPage(own, 'Project settings');
  await page
    .getByText(/Its name cannot be changed; to use another name, create a new key and revoke this one\./)
    .waitFor();
  await page.getByText(/Its name cannot be changed; to use another name, create a new project\./).waitFor();
});

test('[console] the error of a file whose content does not fit its name is in both languages, without a button to retry', async () => {
  const own = await opened();
  const { page } = own;
  const id = await newCollection(own, 'Wrong');
  const row = page.locator('[data-name="fake.pdf"][data-state="failed"]');
  await importInto(own, id, 'fake.pdf', 'only text');
  await row.waitFor();
  const text = (await row.textContent()) ?? '';
  assert.match(text, /The content does not fit the file name\./);
  assert.doesNotMatch(text, /body\/|Try again/);

  await page.getByRole('button', { name: 'Add documents' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('tab', { name: 'From a URL' }).click();
  await dialog.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1/page');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByText('Enter the whole address of a page, such as https://example.com/help.').waitFor();

  await textIn(own, 'zh');
  await importInto(own, id, 'fake.pdf', 'only text');
  await row.waitFor();
  assert.match((await row.textContent()) ?? '', /内容与文件名不符。/);
  await textIn(own, 'en');
});
