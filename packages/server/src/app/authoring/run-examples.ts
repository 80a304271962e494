import { basename, dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { commandName } from '@quartermaster/contract/command-name';
import type { Injection } from '@quartermaster/plugin-kit';
import { Problem } from '../../platform/problem.ts';
import { sentenceOf } from '../../platform/validation/validation-error.ts';
import type { Catalogue, CompiledBundle, CompiledPlugin } from '../../tools/catalogue/catalogue.ts';
import { loadFolder } from '../../tools/catalogue/load/load-folder.ts';
import type { Executor } from '../../tools/execution/executor.ts';
import type { Outcome } from '../../tools/execution/outcome.ts';
import {
  examplesOf,
  findRecording,
  openBundleRuntime,
  openUpstreamStage,
  type PlacedExample,
  type Recording,
  type UpstreamStage,
} from './example-recordings.ts';

/** The result of one example. */
export interface ExampleResult {
  readonly pluginId: string;
  /** The position in the file, from 0. */
  readonly index: number;
  /** A description of the error; null when there is none. */
  readonly wrong: string | null;
}

/**
 * Runs the examples of a bundle with the broker, sandbox and executor of the service. No request leaves the machine: a server on
 * 127.0.0.1 answers for every host from the recordings (`upstream`). A plugin without an example is an error.
 * @param only the plugins to run; empty for all
 * @throws Error when the bundle does not load or lacks a plugin
 */
export async function runExamples(folder: string, only: readonly string[] = []): Promise<ExampleResult[]> {
  const { catalogue, bundle } = await loadForExamples(folder);
  const plugins = choosePlugins(bundle, only);
  const player = await openExamplePlayer(catalogue, bundle);
  try {
    const results: ExampleResult[] = [];
    for (const plugin of plugins) {
      const examples = examplesOf(plugin);
      if (examples.length === 0) results.push({ pluginId: plugin.id, index: 0, wrong: 'the plugin has no example' });
      for (const placed of examples) {
        results.push({ pluginId: plugin.id, index: placed.index, wrong: await player.judge(placed) });
      }
    }
    return results;
  } finally {
    await player.close();
  }
}

export interface LoadedBundle {
  readonly catalogue: Catalogue;
  readonly bundle: CompiledBundle;
}

/** @throws Error when the bundle does not load */
export async function loadBundle(
  folder: string,
  operatorHosts?: ReadonlyMap<string, readonly string[]>,
): Promise<LoadedBundle> {
  const path = resolve(folder);
  const catalogue = await loadFolder(dirname(path), operatorHosts);
  const bundle = catalogue.findBundle(basename(path));
  if (bundle === undefined)
    throw new Error(
      `The bundle in ${folder} does not load. Run "${commandName} bundle check ${folder}" to see the errors.`,
    );
  return { catalogue, bundle };
}

/** Loads a bundle. Where the operator decides the allowed hosts, the hosts that its examples list are allowed. */
async function loadForExamples(folder: string): Promise<LoadedBundle> {
  const loaded = await loadBundle(folder);
  const hosts = [...loaded.bundle.plugins.values()].flatMap(({ manifest }) =>
    (manifest.examples ?? []).flatMap((example) => example.hosts ?? []),
  );
  if (hosts.length === 0 || loaded.bundle.hostsBy === 'bundle') return loaded;
  return await loadBundle(folder, new Map([[loaded.bundle.id, hosts]]));
}

/** @throws Error when a plugin does not exist */
export function choosePlugins(bundle: CompiledBundle, only: readonly string[]): CompiledPlugin[] {
  const unknown = only.find((id) => !bundle.plugins.has(id));
  if (unknown !== undefined) throw new Error(`${bundle.id} has no plugin ${JSON.stringify(unknown)}`);
  return [...bundle.plugins.values()].filter(({ id }) => only.length === 0 || only.includes(id));
}

/** Runs the examples of one bundle without a network. */
export interface ExamplePlayer {
  /** Runs an example and describes its error; null when there is none. */
  judge(placed: PlacedExample): Promise<string | null>;
  play(placed: PlacedExample, recording: Recording): Promise<Played>;
  close(): Promise<void>;
}

export type Played = { readonly output: unknown } | { readonly wrong: string };

export async function openExamplePlayer(catalogue: Catalogue, bundle: CompiledBundle): Promise<ExamplePlayer> {
  const stage = await openUpstreamStage(tokenPathsOf(bundle));
  const overrides = new Map(
    bundle.hosts.flatMap((host) => ['https', 'http'].map((scheme) => [`${scheme}://${host}`, stage.origin] as const)),
  );
  const runtime = await openBundleRuntime({ catalogue, overrides, allow: [], wrap: stage.replay });
  const credentials = inventCredentials(bundle);
  const play = async (placed: PlacedExample, recording: Recording) => {
    stage.play(recording);
    return judgeRun(await runExample(runtime.executor, placed, credentials), stage, bundle.id);
  };
  return {
    play,
    judge: async (placed) => {
      const recording = await findRecording(placed);
      if (recording !== null && 'wrong' in recording) return recording.wrong;
      const played = await play(placed, recording);
      return 'wrong' in played ? played.wrong : compare(played.output, placed.example.output);
    },
    close: async () => {
      await runtime.close();
      await stage.close();
    },
  };
}

const mostWaits = 30;
const never = new AbortController().signal;

/** Runs an example. Returns its outcome, or a sentence when it could not begin. */
export async function runExample(
  executor: Executor,
  { plugin, example }: PlacedExample,
  credentials: Readonly<Record<string, string>>,
): Promise<Outcome | { readonly kind: 'refused'; readonly message: string }> {
  const request = { bundle_id: plugin.bundle.id, plugin_id: plugin.id, input_params: example.input };
  try {
    for (let waits = 0; ; waits += 1) {
      const { outcome } = await executor.execute({ ...request, credentials: { ...credentials } }, never);
      // The run has not begun: a busy machine could not start the process of the handler in time.
      if (outcome.kind !== 'queue_full' || waits === mostWaits) return outcome;
      await pause(outcome.retryAfterSeconds * 1000);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [first] = error.details ?? [];
    const found = first === undefined ? '' : ` (${JSON.stringify(first)})`;
    return { kind: 'refused', message: `${error.message}${found}` };
  }
}

/** Returns the output of a successful run, or its error. */
export function readOutcome(outcome: Awaited<ReturnType<typeof runExample>>): Played {
  if (outcome.kind === 'refused') return { wrong: outcome.message };
  if (outcome.kind !== 'succeeded') {
    const excerpt =
      'excerpt' in outcome && outcome.excerpt !== null
        ? `; it responded with ${JSON.stringify(outcome.excerpt.slice(0, 300))}`
        : '';
    return { wrong: `it ended as ${outcome.kind}${'message' in outcome ? `: ${outcome.message}` : ''}${excerpt}` };
  }
  const [error] = outcome.violations;
  if (error === undefined) return { output: outcome.output };
  return { wrong: sentenceOf({ ...error, path: `output${error.path}` }) };
}

function judgeRun(outcome: Awaited<ReturnType<typeof runExample>>, stage: UpstreamStage, bundleId: string): Played {
  const played = readOutcome(outcome);
  if ('wrong' in played && stage.hadNothing()) {
    const remedy = `Run "${commandName} bundle record" with the folder of ${bundleId}`;
    return { wrong: `no response was recorded for this example. ${remedy}.` };
  }
  if ('wrong' in played || stage.left() === 0) return played;
  return { wrong: `${stage.left()} of the recorded calls were not made; record the example again` };
}

/** Describes the difference from the expected output. null when they are equal or no output is expected. */
export function compare(output: unknown, expected: unknown): string | null {
  if (expected === undefined || isDeepStrictEqual(plain(output), plain(expected))) return null;
  return `output must be ${JSON.stringify(expected)}; received ${JSON.stringify(output)?.slice(0, 500)}`;
}

/** Converts to plain JSON data: objects from another process may have other prototypes. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

function tokenPathsOf({ manifest, plugins }: CompiledBundle): Set<string> {
  const own = [...plugins.values()].flatMap((plugin) => plugin.manifest.request?.inject ?? []);
  const injections: Injection[] = [...(manifest.inject ?? []), ...own];
  return new Set(injections.flatMap((one) => (one.in === 'oauth2' ? [new URL(one.token_url).pathname] : [])));
}

/** Creates placeholder credentials with the lengths that the schema requires. */
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
