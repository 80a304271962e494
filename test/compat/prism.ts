import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { parse } from 'yaml';
import { serve } from '../support/http.ts';

/**
 * A mock server that third-party software creates from an OpenAPI document, behind a proxy that records its responses.
 */
export interface Mock {
  readonly origin: string;
  /** Returns the verdicts on the requests since the last call. */
  take(): Judgement[];
}

export interface Judgement {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  /** The reason why the mock refuses the request; undefined for a valid request. */
  readonly refusal: string | undefined;
}

const program = resolve(import.meta.dirname, 'node_modules/@stoplight/prism-cli/dist/index.js');

/** @param basePath the path of the document's server address. The mock serves the paths without it. */
export async function startMock(t: TestContext, document: string, basePath: string): Promise<Mock> {
  const port = await startPrism(t, await withEncodings(t, document));
  let judgements: Judgement[] = [];
  const origin = await serve(t, (request, response) => {
    const url = (request.url ?? '').slice(basePath.length) || '/';
    const { method = '', headers } = request;
    const upstream = send({
      host: '127.0.0.1',
      port,
      method,
      path: url,
      headers: { ...headers, host: `127.0.0.1:${port}` },
    });
    upstream.on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        const status = answer.statusCode ?? 0;
        judgements.push({ method, url, status, refusal: refusalOf(body.toString()) });
        response.writeHead(status, { 'content-type': answer.headers['content-type'] ?? 'text/plain' }).end(body);
      });
    });
    upstream.on('error', (error) => response.destroy(error));
    request.pipe(upstream);
  });
  return {
    origin,
    take: () => {
      const recorded = judgements;
      judgements = [];
      return recorded;
    },
  };
}

/**
 * Returns the reason for which the document does not allow a request. A failure to create a response is no such reason.
 */
function refusalOf(body: string): string | undefined {
  if (
    !/stoplight\.io\/prism\/errors#(UNPROCESSABLE_ENTITY|UNAUTHORIZED|NO_PATH|NO_METHOD|NO_SERVER|INVALID_CONTENT_TYPE)/.test(
      body,
    )
  )
    return undefined;
  return body.slice(0, 1_000);
}

/**
 * Adds the default encoding of lists in forms to the document (OpenAPI 3.0 "Encoding Object": style `form`, explode
 * true). Without it the mock treats such a list as one text.
 */
async function withEncodings(t: TestContext, document: string): Promise<string> {
  const root: unknown = parse(await readFile(document, 'utf8'));
  let added = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'application/x-www-form-urlencoded' && member.encoding === undefined) {
        const lists = Object.entries(Object(member.schema?.properties)).filter(
          ([, field]) => Object(field).type === 'array',
        );
        if (lists.length === 0) continue;
        member.encoding = Object.fromEntries(lists.map(([field]) => [field, { style: 'form', explode: true }]));
        added += 1;
      }
      visit(member);
    }
  };
  visit(root);
  if (added === 0) return document;
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-mock-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'document.json');
  await writeFile(path, JSON.stringify(root));
  return path;
}

/** The mock needs minutes for some documents. */
const mostStartMs = 120_000;

async function startPrism(t: TestContext, document: string): Promise<number> {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [program, 'mock', '--errors', '-h', '127.0.0.1', '-p', String(port), document],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', NO_COLOR: '1' },
    },
  );
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  let output = '';
  await new Promise<void>((done, fail) => {
    const limit = AbortSignal.timeout(mostStartMs);
    limit.addEventListener('abort', () => fail(new Error(`the mock did not start within ${mostStartMs / 1_000} s`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (output.length < 20_000) output += text;
        if (output.includes('Prism is listening')) done();
      });
    }
    child.once('exit', () => fail(new Error(`the mock did not start:\n${output}`)));
  });
  return port;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  server.close();
  await once(server, 'close');
  return port;
}
