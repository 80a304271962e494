import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startMock } from '../test/compat/prism.ts';
import { baseOf, readDocument } from './piece-documents.ts';

/** A request as it arrived at the server in place of the third party. */
export interface SentRequest {
  readonly action: string;
  /** The host that the piece named. */
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Verdicts {
  readonly accepted: number;
  /** As `action: method path: reason`. */
  readonly refused: readonly string[];
  /** Requests for operations that no document has. */
  readonly unknown: readonly string[];
}

/** Sends the requests to a mock server of each document, which checks them. A request is accepted when one of them accepts it. */
export async function judge(requests: readonly SentRequest[], documents: readonly string[]): Promise<Verdicts | null> {
  const reasons = new Map<SentRequest, string | null>();
  let isJudged = false;
  for (const file of documents) {
    const document = await readDocument(file);
    const base = baseOf(document);
    if (base === undefined) continue;
    const atBase = requests.filter((one) => base.test(`https://${one.host}${one.path}`));
    const asked = atBase.map((one) => `https://${one.host}${one.path}`.replace(base, '').split('?')[0] ?? '');
    const part = partOf(document, asked);
    if (part === undefined) continue;
    isJudged = true;
    const ends: Array<() => unknown> = [];
    const folder = await mkdtemp(join(tmpdir(), 'quartermaster-document-'));
    ends.push(() => rm(folder, { recursive: true }));
    const partFile = join(folder, 'document.json');
    await writeFile(partFile, JSON.stringify(part));
    try {
      // The mock needs a test only to end with it.
      const t = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext;
      const mock = await startMock(t, partFile, '');
      for (const request of atBase.filter((one) => reasons.get(one) !== null)) {
        const url = `https://${request.host}${request.path}`.replace(base, mock.origin);
        const { method, body } = request;
        const headers = Object.entries(request.headers).filter(([name]) => !hopHeaders.has(name));
        const hasBody = body.length > 0 && method !== 'GET' && method !== 'HEAD';
        await fetch(url, { method, headers, ...(hasBody ? { body: new Uint8Array(body) } : {}) });
        const [verdict] = mock.take();
        const reason = verdict === undefined ? 'no verdict' : (verdict.refusal ?? null);
        const isUnknown = reason !== null && /errors#NO_/.test(reason);
        if (!isUnknown || !reasons.has(request)) reasons.set(request, reason);
      }
    } finally {
      for (const end of ends.reverse()) await end();
    }
  }
  return isJudged ? sum(requests, reasons) : null;
}

const hopHeaders = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding']);

function sum(requests: readonly SentRequest[], reasons: ReadonlyMap<SentRequest, string | null>): Verdicts {
  const [refused, unknown]: [string[], string[]] = [[], []];
  for (const [{ action, method, path }, reason] of reasons) {
    if (reason === null) continue;
    const line = `${action}: ${method} ${path.slice(0, 80)}`;
    if (/errors#NO_/.test(reason)) unknown.push(line);
    else refused.push(`${line}: ${reason.slice(0, 600)}`);
  }
  const elsewhere = requests.filter((one) => !reasons.has(one)).map((one) => `${one.action}: ${one.host}`);
  return { accepted: reasons.size - refused.length - unknown.length, refused, unknown: [...unknown, ...elsewhere] };
}

/** The part of the document about these paths, because the mock needs minutes for a whole one. Undefined when it has none of them. */
function partOf(document: unknown, asked: readonly string[]): object | undefined {
  const paths = Object.entries(Object(Object(document).paths)).filter(([template]) => {
    const pattern = template
      .split('?')[0]
      ?.replaceAll(/[.+*^$()[\]|]/g, '\\$&')
      .replaceAll(/\{[^}]*\}/g, '[^/]+');
    return asked.some((path) => new RegExp(`^${pattern}$`).test(path));
  });
  if (paths.length === 0) return undefined;
  const found = new Map<string, unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name !== '$ref' || typeof member !== 'string' || found.has(member)) visit(member);
      else {
        found.set(
          member,
          stepsOf(member).reduce((at, step) => Object(at)[step], Object(document)),
        );
        visit(found.get(member));
      }
    }
  };
  const { components, definitions, parameters, responses, ...rest } = Object(document);
  const part = { ...rest, paths: Object.fromEntries(paths) };
  visit(part);
  const { securitySchemes } = Object(components);
  if (securitySchemes !== undefined) part.components = { securitySchemes };
  for (const [ref, value] of found) {
    const steps = stepsOf(ref);
    const last = steps.pop() ?? '';
    let at = part;
    for (const step of steps) at = at[step] ??= {};
    at[last] = value;
  }
  return part;
}

/** The names of a JSON Pointer in a URI. */
function stepsOf(ref: string): string[] {
  const steps = ref.slice('#/'.length).split('/').map(decodeURIComponent);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
