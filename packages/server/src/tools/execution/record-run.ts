import { type Audit, actorOf, serviceSource } from '../../platform/audit/audit.ts';
import type { PreparedRun } from './executor.ts';
import type { Run } from './run.ts';

/** Adds a run with destructive effects to the audit log. Call it before the plugin starts. Other runs cost nothing. */
export async function recordRun({ runId, bundle, plugin, caller }: Run, audit: Audit | undefined): Promise<void> {
  if (plugin?.manifest.effects !== 'destructive') return;
  const { keyId, projectId, sender, origin, resumes } = caller;
  const source = { ...serviceSource, ...sender, ...actorOf(keyId), projectId };
  const fact = { id: `${bundle.id}/${plugin.id}`, details: { run_id: runId, origin } };
  // A run that continues an accepted one may have its event from an earlier attempt.
  await audit?.record(source, { action: 'tool.destructive_run', ...fact }, resumes?.createdAt);
}

/** Returns the function that records and starts a prepared run. */
export function recorded({ run, start }: PreparedRun, audit: Audit | undefined): PreparedRun['start'] {
  return async (files) => {
    await recordRun(run, audit);
    return await start(files);
  };
}
