import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultPageLimits, fetchPage } from './fetch-page.ts';
import { never, startBroker, startServer } from './testing/broker.suite.ts';

const page = 'https://page.example.com';
const types: Readonly<Record<string, string>> = {
  '/html': 'text/html; charset=ISO-8859-1',
  '/xhtml': 'application/xhtml+xml',
  '/text': 'Text/Plain;charset="utf-8"',
  '/markdown': 'text/markdown',
  '/pdf': 'application/pdf',
};

describe('fetching a page', () => {
  it('returns the bytes, the format and the charset of a supported page', async (t) => {
    const server = await startServer(t, (request, response) => {
      response.writeHead(200, { 'Content-Type': types[request.url ?? ''] ?? 'image/png' }).end('hello');
    });
    const fetch = fetchPage(startBroker(t, { overrides: new Map([[page, server.origin]]) }));
    const get = async (path: string) => {
      const result = await fetch(page + path, never);
      if (result.kind === 'failed') return result.code;
      assert.equal(result.bytes.toString(), 'hello');
      return [result.extension, result.charset ?? null];
    };
    assert.deepEqual(await get('/html'), ['html', 'iso-8859-1']);
    assert.deepEqual(await get('/xhtml'), ['html', null]);
    assert.deepEqual(await get('/text'), ['txt', 'utf-8']);
    assert.deepEqual(await get('/markdown'), ['md', null]);
    assert.deepEqual(await get('/pdf'), ['pdf', null]);
    assert.equal(await get('/image'), 'unsupported_content');
  });

  it('returns the reason when a page cannot be fetched', async (t) => {
    const server = await startServer(t, (request, response) => {
      if (request.url === '/silent') return;
      if (request.url === '/large') response.end(Buffer.alloc(3000));
      else if (request.url === '/away') response.writeHead(302, { location: 'https://inside.example.com/' }).end();
      else if (request.url === '/plain') response.writeHead(302, { location: 'http://page.example.com/' }).end();
      else if (request.url === '/around') response.writeHead(302, { location: '/html' }).end();
      else response.writeHead(404).end();
    });
    const broker = startBroker(t, {
      overrides: new Map([[page, server.origin]]),
      resolve: async (name) => {
        if (name === 'inside.example.com') return [{ address: '127.0.0.1', family: 4 }];
        throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      },
    });
    const limits = { ...defaultPageLimits, maxBytes: 2000 };
    const failure = async (url: string) => {
      const fetch = fetchPage(broker, url.endsWith('/silent') ? { ...limits, timeoutMs: 100 } : limits);
      const result = await fetch(url, never);
      assert.ok(result.kind === 'failed' && result.message.endsWith('.'));
      return result;
    };
    const code = async (url: string) => (await failure(url)).code;
    assert.equal(await code(`${page}/gone`), 'page_status');
    assert.equal(await code(`${page}/around`), 'page_status');
    assert.equal(await code(`${page}/large`), 'page_too_large');
    assert.equal(await code(`${page}/silent`), 'time_limit');
    assert.equal(await code(`${page}/away`), 'page_refused');
    assert.equal(await code(`${page}/plain`), 'page_refused');
    assert.equal(await code('http://page.example.com/'), 'page_refused');
    assert.equal(await code('https://page.example.com:8443/'), 'page_refused');
    assert.equal(await code('not a url'), 'page_refused');
  });

  it('returns the same error for a name that does not exist and for one of the internal network', async (t) => {
    const resolve = async (name: string) => {
      if (name === 'inside.example.com') return [{ address: '10.0.0.7', family: 4 }];
      throw Object.assign(new Error('no such name'), { code: name.startsWith('slow') ? 'EAI_AGAIN' : 'ENOTFOUND' });
    };
    const fetch = fetchPage(startBroker(t, { resolve }));
    const missing = await fetch('https://nowhere.example.com/', never);
    assert.ok(missing.kind === 'failed' && missing.code === 'page_refused');
    assert.match(missing.message, /does not exist or resolves to an address that is not on the public internet/);
    assert.deepEqual(await fetch('https://inside.example.com/', never), missing);
    const unknown = await fetch('https://slow.example.com/', never);
    assert.ok(unknown.kind === 'failed' && unknown.code === 'page_unreachable');
  });
});
