import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Example } from '@quartermaster/plugin-kit';
import type { CompiledBundle, CompiledPlugin } from './catalogue/catalogue.ts';
import { createExecutor } from './execution/create-executor.ts';
import { createBroker } from './execution/egress/create-broker.ts';
import type { Executor } from './execution/executor.ts';
import { openSandbox } from './execution/sandbox/open-sandbox.ts';
import { createNewId } from './kernel/identifier.ts';
import { createLogger } from './kernel/logger.ts';
import { createMetrics } from './kernel/metrics.ts';
import { Problem } from './kernel/problem.ts';
import { loadFolder } from './load-folder.ts';
import { version } from './version.ts';

/** How one example of a plugin went. */
export interface ExampleResult {
  readonly pluginId: string;
  /** From 0, in the order of the file. */
  readonly index: number;
  /** What is wrong, in words; null when nothing is. */
  readonly wrong: string | null;
}

/**
 * Runs the examples of a bundle through the real broker, sandbox and executor. Nothing leaves the machine: each recording
 * (`upstream`) is answered by a server on 127.0.0.1 in place of every host. A plugin without an example is wrong too.
 * @throws Error when the bundle does not load
 */
export async function runExamples(folder: string): Promise<ExampleResult[]> {
  const path = resolve(folder);
  const catalogue = await loadFolder(dirname(path));
  const bundle = catalogue.findBundle(basename(path));
  if (bundle === undefined) throw new Error(`${folder} is no bundle that loads; see "bundle check"`);
  const stage = await openStage(bundle, () => catalogue);
  try {
    const results: ExampleResult[] = [];
    for (const plugin of bundle.plugins.values()) {
      const examples = plugin.manifest.examples ?? [];
      if (examples.length === 0) results.push({ pluginId: plugin.id, index: 0, wrong: 'there is no example' });
      for (const [index, example] of examples.entries()) {
        results.push({ pluginId: plugin.id, index, wrong: await tryExample(plugin, example, stage) });
      }
    }
    return results;
  } finally {
    await stage.close();
  }
}

interface Stage {
  readonly executor: Executor;
  /** The next answers of every host; null: nothing was recorded. */
  prepare(answer: Recording | null): void;
  close(): Promise<void>;
}

interface Recording {
  readonly body: Buffer;
  readonly contentType: string;
}

async function openStage(
  bundle: CompiledBundle,
  catalogue: Parameters<typeof createExecutor>[0]['catalogue'],
): Promise<Stage> {
  let answer: Recording | null = null;
  const server = createServer((_request, response) => {
    if (answer === null) response.writeHead(501).end('this example names no recording ("upstream")');
    else response.writeHead(200, { 'content-type': answer.contentType }).end(answer.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo; // listens on TCP
  const [logger, metrics] = [createLogger('silent'), createMetrics()];
  const overrides = new Map(
    bundle.manifest.hosts.flatMap((host) =>
      ['https', 'http'].map((scheme) => [`${scheme}://${host}`, `http://127.0.0.1:${port}`]),
    ),
  );
  const broker = createBroker({ overrides, allow: [], logger, version });
  const sandbox = await openSandbox({
    ...{ maxChildrenPerBundle: 1, maxChildren: 2, queueLength: 16, idleMs: 60_000, recycleAfterRuns: 1_000 },
    ...{ logger, metrics },
  });
  return {
    executor: createExecutor({ catalogue, broker, sandbox, newId: createNewId(), logger, metrics }),
    prepare: (next) => {
      answer = next;
    },
    close: async () => {
      await sandbox.close();
      await broker.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const never = new AbortController().signal;

async function tryExample(plugin: CompiledPlugin, example: Example, stage: Stage): Promise<string | null> {
  const { bundle, id } = plugin;
  const recording = example.upstream === undefined ? null : await readRecording(bundle.folder, example.upstream);
  if (recording === 'missing') return `there is no recording ${JSON.stringify(example.upstream)}`;
  stage.prepare(recording);
  const request = {
    bundle_id: bundle.id,
    plugin_id: id,
    input_params: example.input,
    credentials: inventCredentials(bundle),
  };
  try {
    const { outcome } = await stage.executor.execute(request, never);
    if (outcome.kind !== 'succeeded')
      return `it ended as ${outcome.kind}${'message' in outcome ? `: ${outcome.message}` : ''}`;
    const [violation] = outcome.violations;
    if (violation !== undefined) return `the output breaks its schema: ${violation.path}: ${violation.message}`;
    if (example.output === undefined || isDeepStrictEqual(plain(outcome.output), plain(example.output))) return null;
    return `expected ${JSON.stringify(example.output)}, found ${JSON.stringify(outcome.output)?.slice(0, 500)}`;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

/** As JSON has it: what comes out of a process may have other prototypes. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

/** Relative to the bundle, as `fixtures/a.json`, or by its name alone. */
async function readRecording(folder: string, name: string): Promise<Recording | 'missing'> {
  for (const path of [join(folder, name), join(folder, 'fixtures', name)]) {
    if (!path.startsWith(`${folder}${sep}`)) continue;
    const body = await readFile(path).catch(() => null);
    if (body === null) continue;
    const contentType = path.endsWith('.xml')
      ? 'application/xml'
      : path.endsWith('.json')
        ? 'application/json'
        : 'text/plain';
    return { body, contentType: `${contentType}; charset=utf-8` };
  }
  return 'missing';
}

/** Credentials nobody has: text as long as the schema wants it. */
function inventCredentials(bundle: CompiledBundle): Record<string, string> {
  const properties: unknown = Reflect.get(bundle.manifest.credentials_schema ?? {}, 'properties');
  return Object.fromEntries(
    Object.entries(Object(properties)).map(([name, schema]) => {
      const { minLength, enum: values } = Object(schema);
      if (Array.isArray(values)) return [name, String(values[0])];
      return [name, 'example-credential'.padEnd(typeof minLength === 'number' ? minLength : 0, '0')];
    }),
  );
}
