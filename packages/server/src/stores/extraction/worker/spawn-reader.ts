import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type IsolatedChild,
  type SpawnSettings,
  spawnIsolated,
} from '../../../platform/processes/isolation/spawn-isolated.ts';
import { channelFiles } from '../../../platform/processes/supervised-process.ts';
import { modulePath } from '../../../platform/server-process/module-path.ts';

const entry = realpathSync(modulePath(import.meta, './child'));
/** The files that the child needs outside the module: two of the kernel and the analysis of words. */
const kernelFiles = ['json/parse-json', 'zip'].map((name) =>
  realpathSync(modulePath(import.meta, `../../../platform/${name}`)),
);
/** The package with the list of formats. A test that copies the module has no such folder. */
const contract = fileURLToPath(new URL('../../../../../contract', import.meta.url));
const analysis = realpathSync(fileURLToPath(new URL('../../search/analysis', import.meta.url)));
const libraries = [
  ...['gpt-tokenizer', 'htmlparser2', 'marked', '@hyzyla/pdfium', 'iconv-lite', 'yauzl', 'pend'],
  ...['@jsquash/webp', 'postal-mime', '@orama/stemmers', 'wink-porter2-stemmer', 'numfmt'],
];

/** Memory that a child maps as writable at its start, mostly untouched. Measured: 1,150 MiB. */
const mappedAtStartMb = 1280;

export interface ReaderPlan {
  readonly memoryMb: number;
  readonly cpuSeconds: number;
  /** Replaces the extraction program. */
  readonly program?: string | undefined;
  /** Disables Node's permission model, to test what the kernel alone denies. */
  readonly isUnrestricted?: boolean;
}

/**
 * Starts an extraction process: an empty environment, access to its program only, no network, no other processes,
 * bounded heap and processor time. Documents arrive through its channel, so it opens no files. The processor limit ends
 * a child that hangs in a loop after the server was killed, where nothing else does.
 */
export function spawnReader(plan: ReaderPlan, settings: SpawnSettings): IsolatedChild {
  const { memoryMb, cpuSeconds, program = entry, isUnrestricted = false } = plan;
  return spawnIsolated(
    {
      entry: program,
      args: [],
      flags: flags(memoryMb),
      readable: readableFiles(),
      folder: '/',
      // The memory watch ends the child at `memoryMb`. This limit bounds what it can allocate between two checks.
      limits: { dataMb: mappedAtStartMb + 2 * memoryMb, fileMb: 0, descriptors: 256, tasks: 64, cpuSeconds },
      memoryMb,
      isUnrestricted,
    },
    settings,
  );
}

function flags(memoryMb: number): string[] {
  return [
    `--max-old-space-size=${memoryMb}`,
    // A batch lives until it is sent. In a smaller young generation, most of it would be copied twice. See ADR 0126.
    '--min-semi-space-size=32',
  ];
}

/** The extraction module, the `node_modules` folders that hold the libraries, the channel, the analysis of words, the contract, and two files of the kernel. */
export function readableFiles(): string[] {
  const require = createRequire(import.meta.url);
  const files = new Set([
    dirname(dirname(entry)),
    analysis,
    ...[contract].filter((folder) => existsSync(folder)).map((folder) => realpathSync(folder)),
    ...kernelFiles,
    ...channelFiles.map((file) => realpathSync(file)),
  ]);
  for (const library of libraries) {
    const lookedIn = require.resolve.paths(library) ?? [];
    const found = lookedIn.find((folder) => existsSync(join(folder, library)));
    if (found !== undefined) files.add(realpathSync(found));
  }
  return [...files];
}
