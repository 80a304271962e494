import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Example } from '@quartermaster/plugin-kit';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { version } from '../../platform/version.ts';
import type { Catalogue, CompiledPlugin } from '../../tools/catalogue/catalogue.ts';
import type { Broker } from '../../tools/egress/broker.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { createExecutor } from '../../tools/execution/create-executor.ts';
import type { Executor } from '../../tools/execution/executor.ts';
import { openSandbox } from '../../tools/execution/sandbox/open-sandbox.ts';
import { readCassette } from './cassette.ts';
import type { Recording } from './upstream-stage.ts';

/** An example and its position in the plugin's file. */
export interface PlacedExample {
  readonly plugin: CompiledPlugin;
  /** The position in the file, from 0. */
  readonly index: number;
  readonly example: Example;
}

const suffix = '.cassette.json';

export function examplesOf(plugin: CompiledPlugin): PlacedExample[] {
  return (plugin.manifest.examples ?? []).map((example, index) => ({ plugin, index, example }));
}

/** The path of an example's cassette, relative to the bundle. null when the example names a payload file. */
export function cassetteOf({ plugin, index, example }: PlacedExample): string | null {
  const { upstream = `${plugin.id}-${index + 1}${suffix}` } = example;
  if (!upstream.endsWith(suffix)) return null;
  return upstream.includes('/') ? upstream : `fixtures/${upstream}`;
}

/** Reads the recorded answers of an example, or returns a sentence that explains why there are none. */
export async function findRecording(placed: PlacedExample): Promise<Recording | { readonly wrong: string }> {
  const { plugin, example } = placed;
  const { folder } = plugin.bundle;
  const cassette = cassetteOf(placed);
  if (cassette !== null) {
    const text = await readInside(folder, [cassette]);
    if (text === null && example.upstream === undefined) return null;
    if (text === null)
      return { wrong: `the recording ${JSON.stringify(cassette)} does not exist; run "bundle record" to create it` };
    const read = readCassette(text.body.toString('utf8'));
    return read === null ? { wrong: `${cassette} is not a valid recording` } : { calls: read.calls };
  }
  const { upstream = '' } = example;
  const found = await readInside(folder, [upstream, join('fixtures', upstream)]);
  if (found === null) return { wrong: `the recording ${JSON.stringify(upstream)} does not exist` };
  return { body: found.body, contentType: `${mediaTypeOf(found.path)}; charset=utf-8` };
}

async function readInside(
  folder: string,
  names: readonly string[],
): Promise<{ readonly path: string; readonly body: Buffer } | null> {
  for (const path of names.map((name) => join(folder, name))) {
    if (!path.startsWith(`${folder}${sep}`)) continue;
    const body = await readFile(path).catch(() => null);
    if (body !== null) return { path, body };
  }
  return null;
}

function mediaTypeOf(path: string): string {
  if (path.endsWith('.xml')) return 'application/xml';
  return path.endsWith('.json') ? 'application/json' : 'text/plain';
}

/** The broker, sandbox and executor of the service, for one bundle at a time. */
interface BundleRuntime {
  readonly executor: Executor;
  close(): Promise<void>;
}

interface BundleRuntimeOptions {
  readonly catalogue: Catalogue;
  readonly overrides: ReadonlyMap<string, string>;
  readonly allow: readonly string[];
  /** Wraps the broker that plugins call. */
  readonly wrap: (broker: Broker) => Broker;
}

export async function openBundleRuntime(options: BundleRuntimeOptions): Promise<BundleRuntime> {
  const { catalogue, overrides, allow, wrap } = options;
  const [logger, metrics] = [createLogger('silent'), createMetrics()];
  const broker = createBroker({ overrides, allow, logger, version });
  const admission = createAdmission({ metrics });
  const sandbox = await openSandbox({
    admission,
    ...{ maxChildrenPerBundle: 1, maxChildren: 2, queueLength: 16, idleMs: 60_000, recycleAfterRuns: 1_000 },
    ...{ logger, metrics },
  });
  const executor = createExecutor({
    admission,
    catalogue: () => catalogue,
    broker: wrap(broker),
    sandbox,
    newId: createNewId(),
    logger,
    metrics,
    version,
    // Each recording contains the check of the tool's definition too.
    limits: { toolBeliefMs: 0 },
  });
  return {
    executor,
    close: async () => {
      await sandbox.close();
      await broker.close();
    },
  };
}
