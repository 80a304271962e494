import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { serve } from '../support/http.ts';
import { installInto, provideArchives } from '../support/packed-archives.ts';
import { handbook } from '../support/sample-handbook.ts';
import { startService, temporaryFolder } from '../support/service.ts';

/** Serves an empty page that imports the packages of a folder by their names, and these packages. Returns its origin. */
async function servePage(t: TestContext, folder: string, packageName: string): Promise<string> {
  const place = join('node_modules', packageName);
  const { exports } = JSON.parse(await readFile(join(folder, place, 'package.json'), 'utf8'));
  const imports = { [packageName]: `/${join(place, exports['.'].default)}` };
  const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
  return await serve(t, async (request, answer) => {
    const path = normalize(new URL(request.url ?? '/', 'http://page').pathname);
    if (path === '/')
      return answer.setHeader('Content-Type', 'text/html').end(`<!doctype html><title>page</title>${map}`);
    const content = await readFile(join(folder, path)).catch(() => undefined);
    if (content === undefined) return answer.writeHead(404).end();
    answer.setHeader('Content-Type', 'text/javascript').end(content);
  });
}

interface Given {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The bytes of a PDF file, in base64. */
  readonly pdf: string;
}

/** The type of the package for code that runs in a page. Tests of a server have no types for an import in a browser. */
type Client = typeof import('@quartermaster/client');

/** Runs in the page, which has no other names than its own. */
async function useClient({ baseUrl, apiKey, pdf }: Given) {
  const name = '@quartermaster/client';
  const { Quartermaster, AuthenticationError } = (await import(name)) as Client;
  const qm = new Quartermaster({ baseUrl, apiKey });
  const sent: number[] = [];
  const bytes = Uint8Array.from(atob(pdf), (letter) => letter.charCodeAt(0));
  const file = await qm.files.upload(new File([bytes], 'guide.pdf'), {
    onProgress: ({ sentBytes }) => sent.push(sentBytes),
  });
  const { collection_id: id } = await qm.collections.create({ name: 'guides' });
  const states = new Set<string>();
  const request = qm.records.create(id, { type: 'file', file_id: file.file_id });
  const record = await request.wait({ onProgress: ({ status }) => states.add(status) });
  const [hit] = await qm.search(id, { query_text: 'handbook', top_k: 1 });
  const names: string[] = [];
  for await (const { file_name } of qm.files.list({ limit: 1 })) names.push(file_name);
  const stranger = new Quartermaster({ baseUrl, apiKey: `${apiKey.slice(0, -4)}0000` });
  const refused = await stranger.files.list().catch((error: unknown) => error instanceof AuthenticationError);
  const status = [record.status, hit?.record_id === record.record_id, typeof hit?.locator?.page];
  return { bytes: file.bytes, sent: sent.at(-1), states: [...states], status, names, refused };
}

test('[package] in a page of another origin, the packed client uploads a file, waits for its record and finds a passage', async (t) => {
  const folder = await temporaryFolder(t);
  const archives = await provideArchives(join(folder, 'archives'));
  await installInto(folder, [archives.get('quartermaster-client') ?? assert.fail('no archive')]);
  const origin = await servePage(t, folder, '@quartermaster/client');
  const service = await startService(t, { settings: { CORS_ORIGINS: origin } });
  const { page, pageErrors, origins } = await openBrowser(t);
  await page.goto(origin);
  const bytes = Buffer.from(handbook[0]?.bytes ?? assert.fail('no sample'));
  const given = { baseUrl: service.filesUrl, apiKey: service.key, pdf: bytes.toString('base64') };
  const done = await page.evaluate(`(${useClient.toString()})(${JSON.stringify(given)})`);
  assert.deepEqual(done, {
    ...{ bytes: bytes.length, sent: bytes.length },
    ...{ states: ['creating', 'ready'], status: ['ready', true, 'number'] },
    ...{ names: ['guide.pdf'], refused: true },
  });
  assert.deepEqual(pageErrors, []);
  assert.deepEqual([...origins].sort(), [origin, service.filesUrl].sort());
});
