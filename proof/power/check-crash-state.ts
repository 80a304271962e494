import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { commandEnvironment } from '../../test/support/command-environment.ts';
import { startService } from '../../test/support/service.ts';
import { checkHistory } from '../history/check-history.ts';
import type { Findings } from '../history/findings.ts';
import { operationsOf } from '../history/history.ts';
import { createEndings } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { openUpstream } from '../support/upstream.ts';
import type { Recording } from './disk-model.ts';

const run = promisify(execFile);

export interface CrashCheck {
  readonly folder: string;
  readonly recording: Recording;
  readonly cutAt: number;
  readonly findings: Findings;
  readonly random: Random;
  readonly settings: Readonly<Record<string, string>>;
  /** Whether `fsck --hash` also reads all bytes. The service is stopped for it. */
  readonly withFsck: boolean;
}

/** Starts the service on the folder after a power cut, and checks what its clients knew at that moment. */
export async function checkCrashState(check: CrashCheck): Promise<void> {
  const endings = createEndings();
  try {
    const known = check.recording.marks.filter(({ at }) => at < check.cutAt).map(({ text }) => text);
    const [calls, events] = [known.filter(isUpstreamCall), known.filter((text) => !isUpstreamCall(text))];
    const before = (path: string) => calls.filter((text) => text.endsWith(`"${path}"}`)).length;
    const upstream = await openUpstream(`${check.folder}-bundles`);
    endings.after(upstream.close);
    const settings = { ...upstream.settings, ...check.settings };
    const service = await startService(endings, { folder: check.folder, settings });
    await checkHistory({
      target: service,
      operations: operationsOf(events),
      findings: check.findings,
      random: check.random,
      upstreamCalls: (plugin, text) => before(`/${plugin}?q=${text}`) + upstream.count(plugin, text),
    });
    if (check.withFsck) {
      await service.stop();
      await checkStore(check.folder, check.settings, check.findings);
    } else await service.kill();
  } catch (error) {
    check.findings.add('unavailable', error instanceof Error ? error.message : String(error));
  } finally {
    await endings.end();
  }
}

function isUpstreamCall(text: string): boolean {
  return text.startsWith('{"upstream":');
}

/** Milliseconds within which a running service finishes the deletes that were interrupted before its start. */
const deletesEndWithin = 30_000;

/**
 * Checks that `fsck --hash` finds nothing except bytes of interrupted uploads, which a later sweep removes.
 * @param deletes `ended`: none is unfinished. `ending`: a running service finishes them. `any`: a backup may contain
 * unfinished deletes of its store.
 * @param environment further variables of the command
 */
export async function checkStore(
  folder: string,
  settings: Readonly<Record<string, string>>,
  findings: Findings,
  deletes: 'ended' | 'ending' | 'any' = 'ended',
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const latest = performance.now() + deletesEndWithin; ; ) {
    const { kinds, output } = await checkWhole(folder, settings, environment);
    const wrong = kinds.filter((kind) => kind !== 'orphan' && !(deletes === 'any' && kind === 'delete_unfinished'));
    if (wrong.length === 0) return;
    const mayEnd = deletes === 'ending' && wrong.every((kind) => kind === 'delete_unfinished');
    if (mayEnd && performance.now() < latest) continue;
    findings.add('inconsistent', `fsck --hash: ${wrong.join(', ')} ${output}`.slice(0, 5000));
    return;
  }
}

/** Runs `fsck --hash`. Returns the kinds of its faults, or `failed` when it did not report. */
async function checkWhole(
  folder: string,
  settings: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
) {
  const named = Object.entries({ DATA: folder, ...settings }).map(([name, value]) => [`QUARTERMASTER_${name}`, value]);
  const env = { ...commandEnvironment, HOME: folder, ...environment, ...Object.fromEntries(named) };
  const command = [resolve('packages/cli/src/main.ts'), 'fsck', '--hash'];
  try {
    await run(process.execPath, command, { env });
    return { kinds: [], output: '' };
  } catch (error) {
    const { stdout = '', stderr = String(error) } = error as { stdout?: string; stderr?: string };
    return { kinds: kindsIn(stdout), output: stdout + stderr };
  }
}

function kindsIn(report: string): readonly string[] {
  try {
    const { faults } = JSON.parse(report) as { faults: Array<{ kind: string }> }; // written by fsck
    return faults.length === 0 ? ['failed'] : [...new Set(faults.map(({ kind }) => kind))];
  } catch {
    return ['failed'];
  }
}
