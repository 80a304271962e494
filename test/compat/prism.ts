import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as send } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** What of the mock's modules is used here. Their own types need those of all of its dependencies. */
interface MockModules {
  readonly getHttpOperationsFromSpec: (document: string) => Promise<readonly MockOperation[]>;
  readonly createServer: (operations: readonly MockOperation[], options: object) => MockServer;
  readonly createLogger: (name: string, options: object) => unknown;
}

interface MockOperation {
  readonly request?: { readonly query?: ReadonlyArray<{ readonly style?: string; explode?: boolean }> };
}

interface MockServer {
  listen(port: number, host: string): Promise<string>;
  close(): Promise<void>;
}

const load = createRequire(import.meta.url);

/** Loads the mock, once for all documents of a test file. */
function loadMock(): MockModules {
  const { getHttpOperationsFromSpec } = load('@stoplight/prism-http');
  const { createServer } = load('@stoplight/prism-http-server');
  const { createLogger } = load('@stoplight/prism-core');
  return { getHttpOperationsFromSpec, createServer, createLogger };
}

/** Starts the mock as its command `mock --errors` does. @returns its port */
async function startPrism(t: TestContext, document: string): Promise<number> {
  const { createLogger, createServer, getHttpOperationsFromSpec } = loadMock();
  const operations = await getHttpOperationsFromSpec(document);
  // The default of OpenAPI, which only the command adds.
  for (const parameter of operations.flatMap(({ request }) => request?.query ?? []))
    if (parameter.style === undefined || parameter.style === 'form') parameter.explode ??= true;
  const config = {
    ...{ isProxy: false, validateRequest: true, validateResponse: true, checkSecurity: true, errors: true },
    mock: { dynamic: false },
  };
  const logger = createLogger('mock', { level: 'silent' });
  const server = createServer(operations, { cors: true, config, components: { logger } });
  t.after(() => server.close());
  return Number(new URL(await server.listen(0, '127.0.0.1')).port);
}
