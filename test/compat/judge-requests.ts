import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDocument } from '../../bench/piece-documents.ts';
import { judge, type SentRequest } from '../../bench/piece-verdicts.ts';
import type { Received } from '../bundles/bundle-fixture.ts';

/** @param url an address at the host that the test server stands in for */
export function receivedFor(received: readonly Received[], action: string, url: string): SentRequest[] {
  const { host } = new URL(url.replaceAll(/\{[^}]*\}/g, 'x'));
  return received.map(({ method, path, query, headers, bytes }) => ({
    action,
    host,
    method,
    path: query.size === 0 ? path : `${path}?${query}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: bytes,
  }));
}

interface How {
  readonly judged: readonly SentRequest[];
  /** An address that replaces those of the document. */
  readonly server: string | undefined;
  /** The beginning of the paths of the document, and what stands for it in the requests. */
  readonly prefixes?: readonly [inDocument: string, inRequests: string] | undefined;
  /** The document wants the token as a parameter and the body as a form, although the service also takes a header and JSON. */
  readonly ofForms?: boolean;
}

/** Compares requests with a document. */
export async function judgeBy(file: string, { server, prefixes = ['', ''], judged, ofForms = false }: How) {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-vendors-'));
  try {
    const whole = Object(await readDocument(file));
    const operations = Object.entries(Object(whole.paths)).map(([path, item]) => [path.replace(...prefixes), item]);
    const document = { ...whole, paths: Object.fromEntries(operations) };
    const part = requestsOf(document, { judged, ofForms });
    const copy = join(folder, 'document.json');
    await writeFile(copy, JSON.stringify(server === undefined ? part : { ...part, servers: [{ url: server }] }));
    return await judge(judged, [copy]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The document without the schemas of answers, which the mock needs minutes to resolve and nobody judges. It also leaves out optional
 * objects of style `deepObject` that no request sends: the mock would take them for empty objects, and miss their required members.
 */
function requestsOf(document: Members, { judged, ofForms }: Pick<How, 'judged'> & { ofForms: boolean }): object {
  const sent = judged
    .map(({ path, body }) => decodeURIComponent(`${path} ${/%5B/i.test(`${body}`) ? body : ''}`))
    .join(' ');
  const isAbsent = ([name, { style }]: [string, Members]) => style === 'deepObject' && !sent.includes(`${name}[`);
  const shorten = (operation: Members): Members => {
    const { parameters = [], requestBody }: { parameters?: unknown; requestBody?: unknown } = operation;
    const kept = [parameters]
      .flat()
      .map(Object)
      .filter((one) => !(ofForms && one.name === 'token') && (one.required === true || !isAbsent([one.name, one])));
    const form = Object(requestBody).content?.['application/x-www-form-urlencoded'];
    const absent = Object.entries<Members>(Object(form?.encoding)).filter(isAbsent);
    for (const [name] of absent) if (!form.schema?.required?.includes(name)) delete form.schema?.properties?.[name];
    const responses = { 200: { description: 'Done.' } };
    return ofForms ? asJson({ ...operation, responses }, kept) : { ...operation, parameters: kept, responses };
  };
  const paths = Object.entries(Object(document.paths)).map(([path, item]) => {
    const members = Object.entries<Members>(Object(item)).map(([name, member]) => {
      return [name, Object(member).responses === undefined ? member : shorten(member)];
    });
    return [path, Object.fromEntries(members)];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** The fields of a form (Swagger 2.0) as members of a body in JSON. */
function asJson(operation: Members, parameters: readonly Members[]): Members {
  const fields = parameters.filter((one) => one.in === 'formData');
  if (fields.length === 0) return { ...operation, parameters };
  const properties = Object.fromEntries(fields.map(({ name, type }) => [name, { type }]));
  const required = fields.filter((one) => one.required === true).map(({ name }) => name);
  const body = { in: 'body', name: 'body', schema: { type: 'object', properties, required } };
  const others = parameters.filter((one) => one.in !== 'formData');
  return { ...operation, consumes: ['application/json'], parameters: [...others, body] };
}
