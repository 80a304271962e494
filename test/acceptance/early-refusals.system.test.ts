import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { setUp } from '../support/administrator.ts';
import { type Ending, type StartedService, share, startService } from '../support/service.ts';

const run = promisify(execFile);
const boundary = 'boundary-of-a-form';
const megabyte = 1024 * 1024;
const content = Buffer.alloc(12 * megabyte, 'a');

/** A request that is refused before its body has arrived. */
interface Refused {
  readonly service: StartedService;
  readonly status: number;
  readonly key?: string;
  readonly path?: string;
  readonly contentType?: string;
  readonly name?: string;
  readonly purpose?: string;
}

const opened = share(async (t: Ending) => {
  const [plain, small, full] = await Promise.all([
    startService(t),
    startService(t, { settings: { MAX_FILE_BYTES: String(8 * megabyte) } }),
    startService(t, { settings: { MIN_FREE_DISK_MB: '100000000' } }),
  ]);
  const { ask, projectId } = await setUp(plain);
  const body = { name: 'without files', scopes: ['collections'] };
  const created = (await (await ask('POST', `/v1/projects/${projectId}/keys`, { body })).json()) as {
    data: { key: string };
  };
  const refused: Readonly<Record<string, Refused>> = {
    'a wrong key': { service: plain, status: 401, key: 'wrong' },
    'a key without the scope': { service: plain, status: 403, key: created.data.key },
    'a wrong key, JSON': { service: plain, status: 401, key: 'wrong', path: '/v1/collections' },
    'a large JSON body': { service: plain, status: 413, path: '/v1/collections', contentType: 'application/json' },
    'a large MCP body': { service: plain, status: 413, path: '/mcp', contentType: 'application/json' },
    'an unknown path': { service: plain, status: 404, path: '/v1/nothing' },
    'a method that is not allowed': { service: plain, status: 405, path: '/v1/limits' },
    'a file that is too large': { service: small, status: 413 },
    'a body of another type': { service: plain, status: 415, contentType: 'text/plain' },
    'another extension': { service: plain, status: 422, name: 'a.exe' },
    'another purpose': { service: plain, status: 422, purpose: 'assistants' },
    'a full disk': { service: full, status: 507 },
  };
  return { plain, refused: Object.entries(refused) };
});

function bodyOf({ name = 'a.txt', purpose = 'record_file' }: Refused): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

const typeOf = ({ contentType = `multipart/form-data; boundary=${boundary}` }: Refused) => contentType;
const pathOf = ({ path = '/v1/files' }: Refused) => path;
const keyOf = ({ key, service }: Refused) => key ?? service.key;

/** Sends the whole message before it reads. Returns the status, or the error of the connection. */
function sendThenReadMessage(url: string, parts: ReadonlyArray<string | Buffer>): Promise<number | string> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname).pause();
  return new Promise((resolve) => {
    let answer = '';
    const end = () => resolve(Number(answer.slice(9, 12)));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('end', end).on('close', end);
    for (const part of parts) socket.write(part);
    socket.write('', () => socket.resume());
  });
}

function sendThenRead(refused: Refused): Promise<number | string> {
  const body = bodyOf(refused);
  const head =
    `POST ${pathOf(refused)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keyOf(refused)}\r\n` +
    `Content-Type: ${typeOf(refused)}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return sendThenReadMessage(refused.service.filesUrl, [head, body]);
}

/** The same with `http.client` of Python, which sends with one call and reads afterwards. */
const pythonClient = `
import http.client, sys, urllib.parse
url, path, key, content_type, file = sys.argv[1:]
body = open(file, 'rb').read()
connection = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc)
try:
    connection.request('POST', path, body, {'Authorization': 'Bearer ' + key, 'Content-Type': content_type})
    print(connection.getresponse().status)
except Exception as error:
    print(repr(error))
`;

async function sendWithPython(refused: Refused, folder: string): Promise<number | string> {
  const file = await writeBody(refused, folder);
  const args = ['-c', pythonClient, refused.service.filesUrl, pathOf(refused), keyOf(refused), typeOf(refused), file];
  const { stdout } = await run('python3', args);
  return Number(stdout) || stdout.trim();
}

async function sendWithCurl(refused: Refused, folder: string): Promise<number | string> {
  const file = await writeBody(refused, folder);
  const headers = [`Authorization: Bearer ${keyOf(refused)}`, `Content-Type: ${typeOf(refused)}`, 'Expect:'];
  const args = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--data-binary', `@${file}`];
  const url = refused.service.filesUrl + pathOf(refused);
  return await run('curl', [...args, ...headers.flatMap((header) => ['-H', header]), url]).then(
    ({ stdout }) => Number(stdout),
    (error: Error) => error.message.slice(-80),
  );
}

async function writeBody(refused: Refused, folder: string): Promise<string> {
  const file = join(folder, 'body');
  await writeFile(file, bodyOf(refused));
  return file;
}

const clients = { 'a raw socket': sendThenRead, 'http.client of Python': sendWithPython, curl: sendWithCurl };
/** Every refusal is sent, and some of them twice. */
const attempts = 20;

for (const [client, send] of Object.entries(clients)) {
  test(`${attempts} of ${attempts} refusals reach ${client}, which sends 12 MB before it reads`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'quartermaster-refusals-'));
    t.after(() => rm(folder, { recursive: true }));
    const { refused } = await opened();
    const answers: Array<readonly [string, number | string]> = [];
    const expected: typeof answers = [];
    for (let nth = 0; nth < attempts; nth++) {
      const [reason, request] = refused[nth % refused.length] ?? assert.fail();
      expected.push([reason, request.status]);
      answers.push([reason, await send(request, folder)]);
    }
    const arrived = answers.filter(([, answer], nth) => answer === expected[nth]?.[1]).length;
    t.diagnostic(`${arrived} of ${attempts} answers arrived`);
    assert.deepEqual(answers, expected);
  });
}

test(`${attempts} of ${attempts} refusals of uploads at once reach a project with too many of them`, async (t) => {
  const busy = await startService(t, { settings: { MAX_UPLOADS_IN_FLIGHT: '1' } });
  const request: Refused = { service: busy, status: 429 };
  const held = await holdUpload(request);
  const answers = await Promise.all(Array.from({ length: attempts }, () => sendThenRead(request)));
  held.destroy();
  assert.deepEqual(answers, Array(attempts).fill(429));
});

/** Starts an upload and sends only its first bytes. */
async function holdUpload(request: Refused): Promise<Socket> {
  const { hostname, port } = new URL(request.service.filesUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `POST /v1/files HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keyOf(request)}\r\n` +
      `Content-Type: ${typeOf(request)}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}

const malformed: Readonly<Record<string, readonly [number, string]>> = {
  'a header that is too large': [431, `Content-Length: ${content.length}\r\nX: ${'x'.repeat(20_000)}`],
  'a length that is no number': [400, 'Content-Length: abc'],
  'a length beside Transfer-Encoding': [400, `Content-Length: ${content.length}\r\nTransfer-Encoding: chunked`],
  'a chunk without a size': [400, 'Transfer-Encoding: chunked'],
};

for (const address of ['filesUrl', 'pluginsUrl'] as const) {
  test(`${attempts} of ${attempts} answers to malformed HTTP reach clients of ${address} that send 12 MB before they read`, async () => {
    const { plain } = await opened();
    for (const [reason, [status, headers]] of Object.entries(malformed)) {
      const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${plain.key}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;
      const send = () => sendThenReadMessage(plain[address], [head, content]);
      const answers = await Promise.all(Array.from({ length: attempts }, send));
      assert.deepEqual(answers, Array(attempts).fill(status), reason);
    }
  });
}
