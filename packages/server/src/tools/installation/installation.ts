import { setTimeout as wait } from 'node:timers/promises';
import type { BundleInstallation, BundlePlanRequest, PackageFacts, PackageUpdate } from '@quartermaster/contract';
import type { AdmissionQueue } from '../../platform/admission/admission-queue.ts';
import { keyless } from '../../platform/admission/owner.ts';
import type { Audit, AuditBy } from '../../platform/audit/audit.ts';
import { Counter, type Registry as Metrics } from '../../platform/metrics.ts';
import { objectNotFound, Problem } from '../../platform/problem.ts';
import { type OpenedArchive, writeArchive } from '../packaging/archive.ts';
import { PackagingError } from '../packaging/problems.ts';
import type { OnProgress } from '../pieces/dry-run.ts';
import { checkOrigin, checkTrust } from './check-origin.ts';
import { checkHosts, checkNames } from './check-request.ts';
import type { Logo } from './fetch-logo.ts';
import { createFolderSync, type FolderSyncDeps } from './folder-sync.ts';
import { factsText, type InstallationRow, type RowFacts, readRows } from './installation-rows.ts';
import { archiveOf, type PackedBundle } from './pack-files.ts';
import {
  changedActions,
  compareFacts,
  editsOf,
  factsOf,
  noEdits,
  withEdits,
  withLogo,
  withoutLogo,
  withReach,
} from './package-facts.ts';
import { basisChanged, planChanged, reachFixed, tooManyInstalled } from './problems.ts';
import { readSource, type SourceDeps } from './read-source.ts';

export interface InstallationDeps extends SourceDeps, FolderSyncDeps {
  /** null when the URL gives no logo. */
  readonly fetchLogo: (url: string, signal: AbortSignal) => Promise<Logo | null>;
  /** Milliseconds within which every other process looks for changes. Answers wait for it. Default: 0. */
  readonly noticeMs?: number;
  readonly queue: AdmissionQueue;
  readonly audit: Audit;
  readonly metrics: Metrics;
}

export interface Plan extends InstallationRow {
  /** null when no version is installed. */
  readonly update: PackageUpdate | null;
}

/** Installs bundles from packages. Source: docs/decisions/0178-install-pieces-by-a-confirmed-plan.md. */
export type Installation = ReturnType<typeof createInstallation>;

const planMs = 3_600_000;
/** Older plans are deleted. */
const mostPlans = 20;
const mostInstalled = 200;

export function createInstallation(deps: InstallationDeps) {
  const { store, folders, queue, audit, clock } = deps;
  const sync = createFolderSync(deps);
  const changes = createCounter(deps.metrics);

  /** Runs one change at a time. */
  async function inTurn<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      const result = await queue.run(keyless, async () => ({ done: await work() }), { signal });
      signal?.throwIfAborted();
      return (result as { done: T }).done; // null only after an abort
    } catch (error) {
      changes.inc({ result: 'failed' });
      throw error instanceof PackagingError ? new Problem('REQUEST_VALIDATION_ERROR', error.message) : error;
    }
  }

  async function plan(request: BundlePlanRequest, by: AuditBy, signal: AbortSignal, onProgress?: OnProgress) {
    checkNames(request);
    const { about, bytes, before, ...rest } = await propose(deps, request, signal, onProgress);
    const { plans } = await readRows(deps);
    for (const old of plans.slice(0, -mostPlans + 1)) await store.remove(old);
    const row = { ...rest, about, basis: before?.id ?? null };
    const facts = factsText(row);
    const stored = await store.add(bytes, { bundleId: about.bundle_id, facts, expiresAt: clock.now() + planMs });
    await audit.record(by, { action: 'bundle.planned', id: about.bundle_id, details: detailsOf(about) });
    changes.inc({ result: 'planned' });
    const update = before === undefined ? null : compareFacts(before.about, about);
    return { ...stored, ...row, update };
  }

  async function install(
    planId: string,
    wanted: BundleInstallation,
    by: AuditBy,
    signal: AbortSignal,
  ): Promise<InstallationRow> {
    checkHosts(wanted);
    const { plans, installed, all } = await readRows(deps);
    const planned = plans.find(({ id }) => id === planId);
    if (planned === undefined) throw objectNotFound('bundle plan', planId);
    const { bundleId, about: shown } = planned;
    const { digest, accept_publisher: isAccepted = false, ...reach } = wanted;
    if (shown.digest !== digest) throw planChanged(shown.digest);
    if (planned.basis !== (installed.get(bundleId)?.id ?? null)) throw basisChanged(bundleId);
    await checkOrigin(folders, installed.get(bundleId)?.about, shown);
    const trust = await checkTrust(deps, shown, isAccepted);
    const isEdited = Object.keys(reach).length > 0;
    if (isEdited && shown.kind !== 'piece') throw reachFixed();
    const opened = await store.read(planned);
    const plain = isEdited ? await archiveOf(withReach(opened.files, reach)) : unchanged(opened);
    await folders.check(plain.archive, deps.load);
    const { bytes, archive, warnings } = await addLogo(deps, plain, planned.logoUrl, signal);
    const { archive: bare } = shown.kind === 'piece' ? await archiveOf(withoutLogo(plain.archive.files)) : plain;
    const edited = { ...shown, ...reach, trust, digest: bare.digest, warnings: [...shown.warnings, ...warnings] };
    const about = { ...edited, ...editsOf(shown, edited) };
    const kept = { about, logoUrl: '', archiveDigest: archive.digest, basis: null };
    const stored = await store.add(bytes, { bundleId, facts: factsText(kept), expiresAt: null });
    // From here on the row decides: `follow` finishes what is interrupted.
    for (const old of all)
      if (old.id === planId || (old.bundleId === bundleId && old.expiresAt === null)) await store.remove(old);
    await everywhere();
    const failure = sync.missing().get(bundleId);
    if (typeof failure === 'string') throw new Problem('SERVICE_UNAVAILABLE', failure, { retryAfter: 5 });
    const result = installed.has(bundleId) ? 'updated' : 'installed';
    const details = { ...detailsOf(about), hosts: about.hosts, credential_hosts: about.credential_places?.hosts ?? [] };
    await audit.record(by, { action: `bundle.${result}`, id: bundleId, details });
    changes.inc({ result });
    return { ...stored, ...kept };
  }

  async function remove(bundleId: string, by: AuditBy): Promise<void> {
    await removeStored(deps, bundleId);
    await everywhere();
    await audit.record(by, { action: 'bundle.removed', id: bundleId });
    changes.inc({ result: 'removed' });
  }

  /** Resolves when this process serves the rows, and the others have seen them. */
  async function everywhere(): Promise<void> {
    await Promise.all([sync.follow(), wait(deps.noticeMs ?? 0)]);
  }

  return {
    search: deps.registry.search,
    plan: (request: BundlePlanRequest, by: AuditBy, signal: AbortSignal, onProgress?: OnProgress) =>
      inTurn(() => plan(request, by, signal, onProgress), signal),
    install: (planId: string, wanted: BundleInstallation, by: AuditBy, signal?: AbortSignal) =>
      inTurn(() => install(planId, wanted, by, signal ?? new AbortController().signal)),
    remove: (bundleId: string, by: AuditBy) => inTurn(() => remove(bundleId, by)),
    /** Deletes archives that are not needed, and compares the files of all installed bundles with their archives. */
    reconcile: async () => {
      await inTurn(() => removeUnneeded(deps));
      await sync.follow(true);
    },
    ...sync,
    changedFiles: (bundleId: string) => folders.changedFiles(bundleId),
    list: async () => [...(await readRows(deps)).installed.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function createCounter(metrics: Metrics) {
  return new Counter({
    name: 'quartermaster_bundle_installations_total',
    help: 'Bundles of packages that were planned, installed, updated and removed, and failures of these, by result.',
    labelNames: ['result'] as const,
    registers: [metrics],
  });
}

/** Removes the rows; the folder follows. A damaged folder of an earlier version has no row, and is removed here. */
async function removeStored({ store, folders, onChange }: InstallationDeps, bundleId: string): Promise<void> {
  const rows = (await store.list()).filter((row) => row.bundleId === bundleId && row.expiresAt === null);
  const folder = await folders.find(bundleId).catch(() => null);
  if (rows.length === 0 && folder === undefined) throw objectNotFound('installed bundle', bundleId);
  for (const row of rows) await store.remove(row);
  if (rows.length > 0) return;
  await folders.remove(bundleId);
  await onChange?.();
}

/** Deletes expired plans, and archives that a later one has replaced. */
async function removeUnneeded(deps: InstallationDeps): Promise<void> {
  const { all, plans, installed } = await readRows(deps);
  const needed = new Set([...plans, ...installed.values()].map(({ id }) => id));
  for (const row of all) if (!needed.has(row.id)) await deps.store.remove(row);
}

type Proposal = Omit<RowFacts, 'basis'> & { readonly bytes: Buffer; readonly before: InstallationRow | undefined };

async function propose(
  deps: InstallationDeps,
  { source, bundle_id: id }: BundlePlanRequest,
  signal: AbortSignal,
  onProgress?: OnProgress,
): Promise<Proposal> {
  const { folders } = deps;
  if (source.kind === 'installed') return await proposeInstalled(deps, source.bundle_id);
  const { origin, warnings, logoUrl, packed } = await readSource(deps, { source, bundleId: id }, signal, onProgress);
  const { installed } = await readRows(deps);
  const { bundleId } = packed.archive.contents;
  const before = installed.get(bundleId);
  await checkOrigin(folders, before?.about, { ...origin, bundle_id: bundleId });
  const { added, removed } = before?.about ?? noEdits;
  const edited = withEdits(packed.archive.files, { added, removed });
  const { bytes, archive } = edited === packed.archive.files ? packed : await archiveOf(edited);
  const bundle = await folders.check(archive, deps.load);
  const isFile = source.kind === 'piece_file' && before !== undefined;
  // A server or an API may describe the same action differently, which the facts do not show.
  const known = origin.kind === 'piece' ? undefined : await folders.find(bundleId).catch(() => undefined);
  const changed = known === undefined ? [] : changedActions(known.contents, archive.contents);
  const about = factsOf(bundle, {
    origin,
    warnings: [...warnings, ...changed, ...(isFile ? [notCompared] : [])],
    digest: archive.digest,
    added,
    removed,
  });
  if (before === undefined && installed.size >= mostInstalled) throw tooManyInstalled(mostInstalled);
  return { about, bytes, logoUrl, archiveDigest: archive.digest, before };
}

const notCompared =
  'The package is from a file, so its origin is not verified: its integrity was not compared with that of the registry.';

/** Proposes the installed archive again, so that its hosts and places can be edited without its source. */
async function proposeInstalled(deps: InstallationDeps, bundleId: string): Promise<Proposal> {
  const before = (await readRows(deps)).installed.get(bundleId);
  if (before === undefined) throw objectNotFound('installed bundle', bundleId);
  const { bytes } = unchanged(await deps.store.read(before));
  const { about, archiveDigest } = before;
  return { about, archiveDigest, logoUrl: '', bytes, before };
}

/** The same bytes, so that a signature stays valid. */
function unchanged(archive: OpenedArchive): PackedBundle {
  return { bytes: writeArchive(archive), archive };
}

/** A logo that cannot be fetched or shown is left out with a warning. */
async function addLogo(
  { folders, load, fetchLogo }: InstallationDeps,
  plain: PackedBundle,
  url: string,
  signal: AbortSignal,
): Promise<PackedBundle & { warnings: string[] }> {
  if (url === '') return { ...plain, warnings: [] };
  try {
    const logo = await fetchLogo(url, signal);
    if (logo === null) throw new Error('its address has no SVG or PNG file of at most 64 KiB');
    const complete = await archiveOf(withLogo(plain.archive.files, logo));
    await folders.check(complete.archive, load);
    return { ...complete, warnings: [] };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { ...plain, warnings: [`The logo was left out: ${reason.replace(/\.$/, '')}.`] };
  }
}

function detailsOf({ package: name, version, integrity, digest }: PackageFacts) {
  return { package: name, version, integrity, digest };
}
