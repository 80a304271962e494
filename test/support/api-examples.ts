import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type ExecuteResult, type NewApiKey, type Scope, scopes } from '@quartermaster/contract';
import { exampleVariables } from '@quartermaster/contract/operations';
import { account, setUpToken } from './administrator.ts';
import { readApiDocument } from './api-document.ts';
import { settledRecord } from './client.ts';
import { serve } from './http.ts';
import { chooseTinyModel } from './model-mirror.ts';
import { allowApplication } from './oauth.ts';
import { pieceThatSends, servePackage } from './package-registry.ts';
import { addPerson } from './people.ts';
import { textPdf } from './sample-pdf.ts';
import { type ServiceRequest, type StartedService, startService, temporaryFolder } from './service.ts';

/** One example request of an OpenAPI document. */
export interface ShownExample {
  readonly address: 'files' | 'plugins';
  readonly operationId: string;
  readonly label: string;
  /** Commands for a shell. */
  readonly source: string;
  /** The scope that a key needs; undefined when a session, or nothing, is needed. */
  readonly scope: Scope | undefined;
  /** Schemas of the JSON responses. */
  readonly answers: readonly object[];
  /** The body in the document; undefined when there is none. */
  readonly body: unknown;
}

type Media = Readonly<
  Record<string, { schema?: object; examples?: Record<string, { summary: string; value: unknown }> }>
>;
interface Operation {
  readonly operationId: string;
  readonly security?: ReadonlyArray<{ readonly apiKey?: readonly Scope[] }>;
  readonly requestBody?: { readonly content: Media };
  readonly responses: Readonly<Record<string, { readonly content?: Media }>>;
  readonly 'x-codeSamples'?: ReadonlyArray<{ readonly label: string; readonly source: string }>;
}

/**
 * Returns every example of both documents.
 * @throws when an operation has none
 */
export async function listExamples({ filesUrl, pluginsUrl }: StartedService): Promise<ShownExample[]> {
  const addresses = [['files', filesUrl] as const, ['plugins', pluginsUrl] as const];
  const lists = addresses.map(async ([address, url]) => {
    const { paths } = await readApiDocument<{ paths: Record<string, Record<string, Operation>> }>(url);
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    return operations.flatMap((operation) => examplesOf(address, operation));
  });
  return (await Promise.all(lists)).flat();
}

function examplesOf(address: 'files' | 'plugins', operation: Operation): ShownExample[] {
  const { operationId, security = [], requestBody, responses } = operation;
  const samples = operation['x-codeSamples'] ?? [];
  if (samples.length === 0) throw new Error(`the operation ${operationId} of the ${address} address has no example`);
  const bodies = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const scope = security.flatMap(({ apiKey = [] }) => apiKey)[0];
  const answers = Object.entries(responses).flatMap(([status, { content }]) => {
    const schema = content?.['application/json']?.schema;
    return status.startsWith('2') && schema !== undefined ? [schema] : [];
  });
  return samples.map(({ label, source }) => {
    const body = bodies.find(({ summary }) => summary === label)?.value;
    return { address, operationId, label, source, scope, answers, body };
  });
}

/** A service with one object of each kind, and a shell with variables for their ids. */
export interface ExampleShell {
  readonly service: StartedService;
  /** Values of the variables of the examples. */
  readonly variables: Readonly<Record<string, string>>;
  /** Runs the commands as printed. Returns the exit code and the standard output. */
  run(source: string, more?: Readonly<Record<string, string>>): Promise<{ code: number; output: string }>;
  /** Returns the arguments of the `curl` command, with the values that the documents show for variables. */
  argumentsOf(source: string): Promise<string[]>;
  /** Returns a key with only this scope, and one with all others. */
  keysFor(scope: Scope): { readonly sufficient: string; readonly insufficient: string };
  /** Stores values that later examples need, such as the token of a session. */
  note(operationId: string, output: string): Promise<void>;
  /** Waits until no record is being created. */
  settle(): Promise<void>;
}

/** @param options more settings, and what starts the service */
export async function openExampleShell(
  t: TestContext,
  { settings = {}, launcher = [] }: Pick<ServiceRequest, 'settings' | 'launcher'> = {},
): Promise<ExampleShell> {
  const upstream = await startThirdParties(t);
  const overrides = {
    'https://api.openweathermap.org': upstream,
    'https://example.com': upstream,
    'https://huggingface.co': upstream,
  };
  const slack = { '0.17.9': pieceThatSends('slack.com') };
  const registry = await servePackage(t, '@activepieces/piece-slack', () => slack);
  const data = await temporaryFolder(t);
  await chooseTinyModel(data);
  const service = await startService(t, {
    folder: data,
    launcher,
    settings: {
      ...settings,
      PACKAGE_REGISTRY: registry,
      ...{ EGRESS_OVERRIDES: JSON.stringify(overrides), PLUGINS_KEY: 'required', CORS_ORIGINS: applicationOrigin },
    },
  });
  const folder = await temporaryFolder(t);
  const shown = Object.fromEntries(Object.entries(exampleVariables).map(([name, { value }]) => [name, value]));
  const { variables, settle } = await seed(service);
  const keys = await createKeys(service, variables.PROJECT_ID ?? '');

  const bash = async (source: string, environment: Readonly<Record<string, string>>) => {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, ...environment };
    const running = promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', source], {
      cwd: folder,
      env,
      signal: t.signal,
    });
    return await running.then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      ({ code, stdout, stderr }) => ({ code: Number(code), output: `${stdout}${stderr}` }),
    );
  };
  return {
    service,
    variables,
    settle,
    run: (source, more = {}) =>
      bash(`curl() { command curl -sS --fail-with-body "$@"; }\n${source}`, { ...variables, ...more }),
    async argumentsOf(source) {
      const { output } = await bash(`curl() { printf '%s\\0' "$@"; }\n${source}`, shown);
      return output.split('\0').slice(0, -1);
    },
    keysFor: (scope) => keys[scope],
    async note(operationId, output) {
      const token = /"console_token":"([^"]+)"/.exec(output)?.[1];
      if (token !== undefined) variables.CONSOLE_TOKEN = token;
      if (operationId === 'createProject') {
        variables.OTHER_PROJECT_ID = /"project_id":"([^"]+)"/.exec(output)?.[1] ?? '';
      }
      if (operationId === 'confirmConnection') {
        const { connection, confirmation } = await connectAccount(service);
        Object.assign(variables, { CONNECTION_ID: connection, CONFIRMATION: confirmation });
      }
      if (operationId === 'revokeApplication') variables.APPLICATION_ID = await allowApplication(service);
      if (operationId === 'deleteArtifact') variables.ARTIFACT_ID = (await createArtifact(service)).artifact_id;
      if (operationId === 'planBundle') {
        variables.BUNDLE_PLAN_ID = /"bundle_plan_id":"([^"]+)"/.exec(output)?.[1] ?? '';
        variables.BUNDLE_DIGEST = /"digest":"([^"]+)"/.exec(output)?.[1] ?? '';
      }
      if (operationId === 'setUp') {
        variables.SESSION_ID = await beginSession(service);
        variables.APPLICATION_ID = await allowApplication(service);
        variables.ACCOUNT_ID = (await addPerson(service)).id;
      }
      if (operationId === 'changePassword') variables.ADMIN_PASSWORD = variables.NEW_PASSWORD ?? '';
    },
  };
}

/** Starts servers in place of OpenWeather and a web page. */
async function startThirdParties(t: TestContext): Promise<string> {
  const weather = await readFile(resolve('bundles/open_weather/fixtures/current.json'));
  return await serve(t, (request, response) => {
    const isPage = request.url === '/';
    response.setHeader('Content-Type', isPage ? 'text/html' : 'application/json');
    if (isPage) response.end('<html><body><h1>Example</h1><p>A page for examples.</p></body></html>');
    else response.end(weather);
  });
}

/** Creates one object of each kind. Returns their ids by the name of the variable. */
async function seed(service: StartedService) {
  const { client, key, filesUrl, pluginsUrl } = service;
  const file = await client.files.upload(new Blob(['# Hours\n\nThe library opens at nine.\n']), {
    purpose: 'record_file',
    name: 'library.md',
  });
  const sheet = await client.files.upload(new Blob(['question,answer\nIs there parking?,\nDogs?,Yes.\n']), {
    purpose: 'qa_record_file',
    name: 'faq.csv',
  });
  const { collection_id: collectionId } = await client.collections.create({ name: 'library', type: 'text' });
  const { collection_id: qaCollectionId } = await client.collections.create({ name: 'faq', type: 'qa' });
  const record = await client.records.create(collectionId, { type: 'file', file_id: file.file_id });
  const sheetRecord = await client.records.create(qaCollectionId, { type: 'qa_sheet', file_id: sheet.file_id });
  const pdf = await client.files.upload(new Blob([new Uint8Array(textPdf([['The library opens at nine.']]))]), {
    purpose: 'record_file',
    name: 'hours.pdf',
  });
  const pdfRecord = await client.records.create(collectionId, { type: 'file', file_id: pdf.file_id });
  const settle = async () => {
    await settled(client, collectionId, record.record_id);
    await settled(client, collectionId, pdfRecord.record_id);
    await settled(client, qaCollectionId, sheetRecord.record_id);
  };
  await settle();
  const ask = asker(filesUrl, key);
  const chunk = await ask<{ chunk_id: string }>(`/v1/collections/${collectionId}/chunks`, {
    content: 'On Sundays it stays closed.',
  });
  const chunksOfPdf = `/v1/collections/${collectionId}/records/${pdfRecord.record_id}/chunks`;
  const [pdfChunk] = await ask<Array<{ chunk_id: string }>>(chunksOfPdf);
  const [project] = await ask<Array<{ project_id: string }>>('/v1/projects');
  const projectId = project?.project_id ?? '';
  const disposable = await ask<NewApiKey>(`/v1/projects/${projectId}/keys`, { name: 'disposable' });
  const limit = await ask<{ rate_limit_id: string }>(`/v1/projects/${projectId}/rate_limits`, { per_day: 1_000_000 });
  const sum = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '1+1' }, credentials: {} };
  const run = await asker(pluginsUrl, key)<{ run_id: string }>('/v1/execute', sum);
  const artifact = await createArtifact(service);
  const { connection, confirmation } = await connectAccount(service);
  const signed = new URL(artifact.file_url ?? '').searchParams;
  const variables: Record<string, string> = {
    ...{ ARTIFACT_ID: artifact.artifact_id, ARTIFACT_EXPIRES: signed.get('expires') ?? '' },
    ...{ ARTIFACT_SIGNATURE: signed.get('signature') ?? '' },
    ...{ FILES: filesUrl, PLUGINS: pluginsUrl, QM_API_KEY: key, PROJECT_ID: projectId, KEY_ID: disposable.key_id },
    ...{
      FILE_ID: file.file_id,
      SHEET_ID: sheet.file_id,
      COLLECTION_ID: collectionId,
      QA_COLLECTION_ID: qaCollectionId,
    },
    ...{
      RECORD_ID: record.record_id,
      SHEET_RECORD_ID: sheetRecord.record_id,
      PDF_RECORD_ID: pdfRecord.record_id,
      PDF_CHUNK_ID: pdfChunk?.chunk_id ?? '',
      CHUNK_ID: chunk.chunk_id,
      RUN_ID: run.run_id,
      RATE_LIMIT_ID: limit.rate_limit_id,
      CONNECTION_ID: connection,
      CONFIRMATION: confirmation,
    },
    ...{
      SETUP_TOKEN: await setUpToken(service),
      ADMIN_NAME: account.name,
      ADMIN_PASSWORD: account.password,
    },
    ...{ NEW_PASSWORD: 'nine herons wade at noon', OPEN_WEATHER_API_KEY: 'canary-weather-key' },
    OAUTH_CLIENT_SECRET: 'canary-client-secret',
  };
  return { variables, settle };
}

const applicationOrigin = 'https://app.example';

/** Enters a key on the page of a link. The application has not confirmed it yet. */
async function connectAccount({ pluginsUrl, key }: StartedService) {
  const connect = { bundle_id: 'open_weather', end_user: 'user-42', return_url: `${applicationOrigin}/connected` };
  const link = await asker(pluginsUrl, key)<{ connection_id: string; connect_url: string }>('/v1/connections', connect);
  const page = await fetch(link.connect_url, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ OPEN_WEATHER_API_KEY: 'canary-weather-key' }),
  });
  const [, confirmation = ''] = /confirmation=([\w-]+)/.exec(await page.text()) ?? [];
  return { connection: link.connection_id, confirmation };
}

/** Runs a plugin that stores an artifact. Returns the artifact. */
async function createArtifact({ pluginsUrl, key }: StartedService) {
  const plugin = { bundle_id: 'qr_code_generator', plugin_id: 'generate_qr_code' };
  const body = { ...plugin, input_params: { text: 'x' }, credentials: {} };
  const { artifacts: [artifact] = [] } = await asker(pluginsUrl, key)<ExecuteResult>('/v1/execute', body);
  if (artifact === undefined) throw new Error('the plugin stored no artifact');
  return artifact;
}

/** Waits until the record has settled. An example may have deleted it. */
async function settled(client: StartedService['client'], collectionId: string, recordId: string): Promise<void> {
  await settledRecord(client, collectionId, recordId).catch((error: { status?: number }) => {
    if (error.status !== 404) throw error;
  });
}

type Keys = Readonly<Record<Scope, { readonly sufficient: string; readonly insufficient: string }>>;

/**
 * Creates the keys. `admin` includes `metrics`, and a key can grant only its own scopes, so the key for `admin` has all
 * of them.
 */
async function createKeys({ filesUrl, key }: StartedService, projectId: string): Promise<Keys> {
  const ask = asker(filesUrl, key);
  const create = async (wanted: readonly Scope[]) =>
    (await ask<NewApiKey>(`/v1/projects/${projectId}/keys`, { name: wanted.join(), scopes: wanted })).key;
  const entries = scopes.map(async (scope) => {
    // A scope includes its `:read`.
    const stronger: readonly string[] =
      scope === 'metrics' ? ['metrics', 'admin', 'plugins'] : [scope, scope.replace(/:read$/, '')];
    const sufficient = await create(scope === 'admin' ? scopes : [scope]);
    return [
      scope,
      { sufficient, insufficient: await create(scopes.filter((one) => !stronger.includes(one))) },
    ] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Keys; // one for each scope
}

/** Begins another session that an example ends. Returns its id. */
async function beginSession({ filesUrl }: StartedService): Promise<string> {
  const session = await asker(filesUrl, undefined)<{ session_id: string }>('/v1/session', account);
  return session.session_id;
}

function asker(url: string, key: string | undefined) {
  return async <Data>(path: string, body?: unknown): Promise<Data> => {
    const answer = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: Data }).data; // the contract of the path
  };
}
