import { mkdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { parseDocument } from 'yaml';
import { systemClock } from '../../platform/clock.ts';
import { replaceFile } from '../../platform/disk/replace-file.ts';
import { Secret } from '../../platform/secret.ts';
import type { CompiledBundle, CompiledPlugin } from '../../tools/catalogue/catalogue.ts';
import type { Broker } from '../../tools/egress/broker.ts';
import { createRedactor, type Redactor } from '../../tools/egress/redact/redactor.ts';
import { derivedSecrets } from '../../tools/egress/signing/derived-secrets.ts';
import { type Environment, parseConfig } from '../settings/config.ts';
import {
  type Cassette,
  type RecordedCall,
  readCassette,
  recordRequest,
  recordResponse,
  writeCassette,
} from './cassette.ts';
import { cassetteOf, examplesOf, openBundleRuntime, type PlacedExample } from './example-recordings.ts';
import {
  choosePlugins,
  compare,
  type ExamplePlayer,
  loadBundle,
  openExamplePlayer,
  readOutcome,
  runExample,
} from './run-examples.ts';

export interface RecordOptions {
  readonly folder: string;
  readonly credentials: Readonly<Record<string, string>>;
  /** The plugins to record. Empty for all. */
  readonly plugins: readonly string[];
  /** Whether to record examples that change data upstream. */
  readonly allowWrites: boolean;
  /** Whether to write the results into the examples as their `output`. */
  readonly updateOutputs: boolean;
  /** The operator's settings. Their overrides and allowed addresses apply as for the service. */
  readonly environment: Environment;
}

/** The result of recording one example. */
export interface ExampleRecording {
  readonly pluginId: string;
  /** The position in the file, from 0. */
  readonly index: number;
  /** `recorded`: `detail` is the file; `left`: why the example was skipped; `wrong`: the error. */
  readonly result: 'recorded' | 'left' | 'wrong';
  readonly detail: string;
}

/**
 * Runs the examples of a bundle against the real upstream, with the components and rules of the service, and stores the calls. Each
 * recording is replayed immediately; a different result is an error.
 * @throws Error when the bundle does not load, ConfigError when the settings are invalid
 */
export async function recordExamples(options: RecordOptions): Promise<ExampleRecording[]> {
  const { egressOverrides: overrides, egressAllow: allow, bundleHosts } = parseConfig(options.environment);
  const { catalogue, bundle } = await loadBundle(options.folder, bundleHosts);
  const plugins = choosePlugins(bundle, options.plugins);
  const recorder = createCallRecorder(redactorOf(bundle, options.credentials));
  const runtime = await openBundleRuntime({ catalogue, overrides, allow, wrap: recorder.wrap });
  const player = await openExamplePlayer(catalogue, bundle);
  try {
    const live = (placed: PlacedExample) => runExample(runtime.executor, placed, options.credentials);
    return await recordAll(plugins, { options, recorder, player, live });
  } finally {
    await player.close();
    await runtime.close();
  }
}

interface Session {
  readonly options: RecordOptions;
  readonly recorder: CallRecorder;
  readonly player: ExamplePlayer;
  readonly live: (placed: PlacedExample) => ReturnType<typeof runExample>;
}

async function recordAll(plugins: readonly CompiledPlugin[], session: Session): Promise<ExampleRecording[]> {
  const results: ExampleRecording[] = [];
  for (const plugin of plugins) {
    const outputs = new Map<number, unknown>();
    for (const placed of examplesOf(plugin)) {
      const { output, ...result } = await recordOne(placed, session);
      results.push({ pluginId: plugin.id, index: placed.index, ...result });
      if (output !== undefined) outputs.set(placed.index, output);
    }
    if (session.options.updateOutputs && outputs.size > 0)
      await writeOutputs(join(plugin.bundle.folder, `${plugin.id}.yaml`), outputs);
  }
  return results;
}

type Recorded = Pick<ExampleRecording, 'result' | 'detail'> & { readonly output?: unknown };

async function recordOne(placed: PlacedExample, session: Session): Promise<Recorded> {
  const { plugin, example } = placed;
  const { options, recorder, player, live } = session;
  const file = cassetteOf(placed);
  if (!plugin.bundle.callsOut) return { result: 'left', detail: 'the bundle calls no API' };
  if (file === null)
    return { result: 'left', detail: `its response is a file that is not a recording, ${example.upstream}` };
  const { effects } = plugin.manifest;
  if (effects !== 'read' && !options.allowWrites) {
    return { result: 'left', detail: `it changes data of the API (effects: ${effects}); use --write to record it` };
  }
  const outcome = readOutcome(await live(placed));
  const { text, calls } = recorder.take(today());
  if ('wrong' in outcome) return { result: 'wrong', detail: outcome.wrong };
  if (calls === 0) return { result: 'left', detail: 'it calls no API' };
  const played = await player.play(placed, { calls: readCassette(text)?.calls ?? [] });
  if ('wrong' in played) return { result: 'wrong', detail: `its recording cannot be replayed: ${played.wrong}` };
  if (!(await keepRecording(plugin.bundle.folder, file, text))) {
    return { result: 'wrong', detail: `${JSON.stringify(file)} is outside the bundle, so nothing was recorded` };
  }
  const differs = options.updateOutputs ? null : compare(played.output, example.output);
  if (differs !== null) return { result: 'wrong', detail: `recorded into ${file}, but ${differs}` };
  return { result: 'recorded', detail: file, output: played.output };
}

function today(): string {
  return new Date(systemClock.now()).toISOString().slice(0, 10);
}

/** A redactor for every sent credential in all encodings, and for the values derived from them. */
function redactorOf(bundle: CompiledBundle, credentials: Readonly<Record<string, string>>): Redactor {
  const secrets = new Map(Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]));
  const own = [...bundle.plugins.values()].flatMap(({ manifest }) => manifest.request?.inject ?? []);
  const derived = derivedSecrets([...(bundle.manifest.inject ?? []), ...own], secrets);
  return createRedactor([...Object.values(credentials), ...derived]);
}

/** Sets the `output` of examples in a plugin's file, by their position. Comments and order stay unchanged. */
export async function writeOutputs(file: string, outputs: ReadonlyMap<number, unknown>): Promise<void> {
  const document = parseDocument(await readFile(file, 'utf8'));
  for (const [index, output] of outputs) {
    document.setIn(['examples', index, 'output'], document.createNode(output, { flow: true }));
  }
  await replaceFile(file, document.toString({ lineWidth: 120, flowCollectionPadding: false }));
}

/**
 * Writes a file of a bundle. The bundle is untrusted: neither paths in its examples nor links in its folder can lead outside of it.
 * @param folder an absolute path without links
 * @returns whether the file is inside the bundle and was written
 */
export async function keepRecording(folder: string, file: string, text: string): Promise<boolean> {
  const path = join(folder, file);
  if (!path.startsWith(`${folder}${sep}`)) return false;
  await mkdir(dirname(path), { recursive: true });
  const place = await realpath(dirname(path));
  if (place !== folder && !place.startsWith(`${folder}${sep}`)) return false;
  await replaceFile(path, text);
  return true;
}

/** Records the requests of plugins to a broker and its answers. */
export interface CallRecorder {
  wrap(broker: Broker): Broker;
  /** Returns the calls since the last call as a cassette, with all credentials redacted in every encoding. */
  take(recordedAt: string): { readonly text: string; readonly calls: number };
}

/**
 * Creates a recorder. The broker receives requests before credentials are injected, and its answers are redacted only for marked
 * secrets. Recordings are shared, so the other credentials, such as an account, are redacted here too.
 * @param credentials redacts every credential of the run, marked or not
 */
export function createCallRecorder(credentials: Redactor): CallRecorder {
  let calls: RecordedCall[] = [];
  let ofRuns: Redactor[] = [];

  return {
    wrap: (broker) => ({
      close: () => broker.close(),
      send: async (request, policy, signal) => {
        const result = await broker.send(request, policy, signal);
        // This redactor also knows the access tokens that the run requested.
        if (policy.redactor !== undefined) ofRuns.push(policy.redactor);
        if (result.kind !== 'response') return result;
        const response = recordResponse({ ...result, body: credentials.bytes(result.body) });
        calls.push({ request: recordRequest(request), response });
        return result;
      },
    }),
    take: (recordedAt) => {
      const redactors = [credentials, ...new Set(ofRuns)];
      const cassette: Cassette = { recordedAt, calls };
      const clean = redactors.reduce((value, redactor) => redactor.deep(value), cassette);
      const recorded = { text: writeCassette(clean), calls: calls.length };
      [calls, ofRuns] = [[], []];
      // A final search of the exact text that will be written.
      if (redactors.some((redactor) => redactor.text(recorded.text) !== recorded.text)) {
        throw new Error('The recording was not stored because it contains a credential.');
      }
      return recorded;
    },
  };
}
