import { currentRun } from './current-run.ts';
import { isAuth } from './describe-piece.ts';
import { membersOf } from './load-piece.ts';
import type { ActionCall, PieceAuthValue } from './piece-task.ts';

type Members = Readonly<Record<string, unknown>>;

/** The context that the framework passes to an action, as far as Quartermaster has the parts of it. */
export function createActionContext(auth: unknown, propsValue: Members): object {
  return {
    executionType: 'BEGIN',
    auth,
    propsValue,
    step: { name: 'step_1' },
    files: { write: writeFile },
    tags: { add: async () => {} },
    output: { update: async () => {} },
    run: withRest('run', { id: 'run', isTest: false, stop: () => {}, respond: () => {} }),
    ...createPropertyContext(),
    ...Object.fromEntries(['store', 'agent'].map((part) => [part, withRest(part)])),
    generateResumeUrl: () => refuse('generateResumeUrl'),
  };
}

/** The part of the context that functions of properties get too. */
export function createPropertyContext(searchValue?: string): object {
  return {
    searchValue,
    project: { id: 'project', externalId: async () => undefined },
    ...Object.fromEntries(['connections', 'server', 'flows'].map((part) => [part, withRest(part)])),
  };
}

/** Returns an object whose other members refuse. */
function withRest(part: string, members: Members = {}): object {
  return new Proxy(members, {
    get: (_, name) => {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      return typeof name === 'symbol' || name === 'then' ? undefined : refuse(`${part}.${name}`);
    },
  });
}

function refuse(what: string): never {
  throw new Error(`This action uses "${what}" of Activepieces, which Quartermaster does not have.`);
}

const textTypes: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
  xml: 'text/xml',
};

/** Returns the file as a `data:` URL. The service stores it as an artifact, as it does for every output that has one. */
async function writeFile({ fileName, data }: { fileName?: unknown; data?: unknown }): Promise<string> {
  const text = String(fileName ?? 'file');
  const name = encodeURIComponent(text.toWellFormed().slice(0, 100)).replaceAll(/[^\w.+%-]/g, '_');
  const type = textTypes[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';
  const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data as Uint8Array);
  return `data:${type};name=${name};base64,${bytes.toString('base64')}`;
}

/** Before versions of the context existed, a text or the fields were passed without their kind. */
export function authFor(auth: PieceAuthValue | null, contextVersion: string | undefined): unknown {
  if (auth === null) return undefined;
  const { kind, fields } = auth;
  if (kind === 'SECRET_TEXT') {
    return contextVersion === undefined ? fields.token : { type: kind, secret_text: fields.token };
  }
  if (kind === 'CUSTOM_AUTH') return contextVersion === undefined ? fields : { type: kind, props: fields };
  if (kind === 'BASIC_AUTH') return { type: kind, ...fields };
  const { access_token, ...props } = fields;
  // Pieces read other members of the answer of the token endpoint: the token of a user of Slack, the address of an account.
  const data = { ...standardMembers, ...props, access_token, authed_user: { access_token } };
  return { type: kind, access_token, token_type: 'Bearer', scope: '', props, data: new Proxy(data, noteMissing) };
}

/** What code may read of any answer of a token endpoint. */
const standardMembers = { token_type: 'Bearer', scope: '', refresh_token: '', expires_in: 3600 };

/** Notes the members that a piece reads and the credentials do not have, for the error that follows. */
const noteMissing: ProxyHandler<Record<string, unknown>> = {
  get(data, name) {
    if (typeof name === 'string' && !(name in data) && name !== 'toJSON') currentRun.getStore()?.missing.add(name);
    return Reflect.get(data, name);
  },
};

/** Converts the inputs to what the framework passes to an action: files have their bytes, early frameworks have the authentication. */
export function propsFor(declared: unknown, { props }: Pick<ActionCall, 'props'>, auth?: unknown): Members {
  const values = Object.entries(Object(declared)).map(([name, property]) => {
    if (isAuth(property)) return [name, auth ?? props[name]];
    return [name, valueFor(membersOf(property), props[name], props[`${name}_filename`])];
  });
  return Object.fromEntries(values);
}

function valueFor({ type, properties }: Members, value: unknown, fileName?: unknown): unknown {
  if (type === 'FILE' && typeof value === 'string') return fileOf(value, fileName);
  if (type !== 'ARRAY' || properties === undefined || !Array.isArray(value)) return value ?? undefined;
  return value.map((item) => propsFor(properties, { props: membersOf(item) }));
}

/** A file of the framework. */
function fileOf(text: string, fileName: unknown): object {
  const base64 = text.slice(text.startsWith('data:') ? text.indexOf(',') + 1 : 0);
  const filename = typeof fileName === 'string' ? fileName : 'file';
  const dot = filename.lastIndexOf('.');
  return {
    filename,
    data: Buffer.from(base64, 'base64'),
    base64,
    extension: dot < 0 ? undefined : filename.slice(dot + 1),
  };
}
