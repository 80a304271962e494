import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Quartermaster } from '../quartermaster.ts';

/** Behaves like the class of browsers. */
class FakeRequest {
  static sent: FakeRequest[] = [];
  static answer: (request: FakeRequest) => void = () => undefined;
  upload: { onprogress?: (event: { loaded: number }) => void } = {};
  headers: Record<string, string> = {};
  status = 200;
  response: unknown = new Blob(['{"status":"success","data":{"file_id":"f"}}']);
  responseURL = '';
  url = '';
  body: unknown;
  isAborted = false;
  onload: () => void = () => undefined;
  onerror: () => void = () => undefined;
  open(_method: string, url: string): void {
    this.url = url;
    this.responseURL = url;
  }
  setRequestHeader(name: string, value: string): void {
    this.headers[name] = value;
  }
  getAllResponseHeaders(): string {
    return 'x-request-id: req-1\r\ncontent-type: application/json\r\n';
  }
  send(body: unknown): void {
    this.body = body;
    FakeRequest.sent.push(this);
    setImmediate(() => FakeRequest.answer(this));
  }
  abort(): void {
    this.isAborted = true;
  }
}

function pretendBrowser(t: TestContext, answer: (request: FakeRequest) => void) {
  Object.assign(globalThis, { XMLHttpRequest: FakeRequest });
  t.after(() => Reflect.deleteProperty(globalThis, 'XMLHttpRequest'));
  FakeRequest.sent = [];
  FakeRequest.answer = answer;
  return new Quartermaster({ baseUrl: 'http://files.test', apiKey: 'k', maxRetries: 0 });
}

const file = new File(['tea'], 'a.txt');

test('a browser reports the progress of an upload', async (t) => {
  const client = pretendBrowser(t, (request) => {
    request.upload.onprogress?.({ loaded: 2 });
    request.upload.onprogress?.({ loaded: 999 });
    request.onload();
  });
  const seen: unknown[] = [];
  const { data, requestId } = await client.files.upload(file, { onProgress: (one) => seen.push(one) }).withResponse();
  assert.deepEqual([data, requestId], [{ file_id: 'f' }, 'req-1']);
  assert.deepEqual(seen, [
    { sentBytes: 2, totalBytes: 3 },
    { sentBytes: 3, totalBytes: 3 },
  ]);
  const [request] = FakeRequest.sent;
  assert.equal(request?.headers.authorization, 'Bearer k');
  assert.match(request?.headers['content-type'] ?? '', /^multipart\/form-data; boundary=/);
  assert.ok(request?.body instanceof Blob);
});

test('a browser refuses a redirected response, reports a failed request, and aborts', async (t) => {
  const redirected = pretendBrowser(t, (request) => {
    request.responseURL = 'http://evil.test/';
    request.onload();
  });
  const onProgress = () => undefined;
  await assert.rejects(redirected.files.upload(file, { onProgress }), /answered with a redirect/);
  FakeRequest.answer = (request) => request.onerror();
  await assert.rejects(redirected.files.upload(file, { onProgress }), { name: 'ConnectionError' });
  const stop = new AbortController();
  const reason = new Error('left');
  FakeRequest.answer = () => stop.abort(reason);
  await assert.rejects(redirected.files.upload(file, { onProgress, signal: stop.signal }), reason);
  assert.equal(FakeRequest.sent.at(-1)?.isAborted, true);
});

test('a browser buffers a stream before it is sent, and a custom fetch sends every request', async (t) => {
  pretendBrowser(t, () => undefined);
  const bodies: unknown[] = [];
  const answer: typeof fetch = async (_url, init = {}) => {
    bodies.push(init.body);
    return Response.json({ status: 'success', data: { file_id: 'f' } });
  };
  const client = new Quartermaster({ baseUrl: 'http://files.test', fetch: answer });
  await client.files.upload(new Blob(['tea']).stream(), { name: 'a.txt', onProgress: () => undefined });
  assert.ok(bodies[0] instanceof Blob);
  assert.match(await bodies[0].text(), /\r\n\r\ntea\r\n--/);
  assert.equal(FakeRequest.sent.length, 0);
});
