import type { Kysely, Transaction } from 'kysely';
import type { CompletedClaim, HeldClaim } from '../../platform/idempotency/idempotency-repository.ts';
import type { Tables } from '../database/tables.ts';

/** The limits on the stored answers of one project. */
export interface KeptAnswerLimits {
  /** Maximum total bytes of the answers of runs. */
  readonly maxBytes: number;
  /** Called for each answer that is not stored, before its transaction commits. */
  readonly onExceeded?: () => void;
}

/**
 * Stores the answer of a run. When the project's answers would exceed their bytes, it stores a replacement instead.
 * Every transaction changes rows of `idempotency` first and sums last, which prevents deadlocks.
 */
export async function keepAnswer(
  transaction: Transaction<Tables>,
  claim: CompletedClaim,
  { maxBytes, onExceeded }: KeptAnswerLimits,
): Promise<boolean> {
  const before = await transaction
    .selectFrom('idempotency')
    .select('answer_bytes')
    .where('project_id', '=', claim.projectId)
    .where('operation', '=', claim.operation)
    .where('key', '=', claim.key)
    .where('caller_id', '=', claim.callerId)
    .executeTakeFirst();
  const bytes = Buffer.byteLength(claim.answer);
  const stored = await held(transaction, claim)
    .set({ fingerprint: claim.fingerprint, answer: claim.answer, answer_bytes: bytes, expires_at: claim.expiresAt })
    .executeTakeFirst();
  if (stored.numUpdatedRows !== 1n) return false;
  const sum = await changeKeptBytes(transaction, claim.projectId, bytes - (before?.answer_bytes ?? 0));
  if (sum <= maxBytes || claim.insteadOfAnswer === undefined) return true;
  const less = Buffer.byteLength(claim.insteadOfAnswer);
  await transaction
    .updateTable('idempotency')
    .set({ answer: claim.insteadOfAnswer, answer_bytes: less })
    .where('project_id', '=', claim.projectId)
    .where('operation', '=', claim.operation)
    .where('key', '=', claim.key)
    .where('caller_id', '=', claim.callerId)
    .execute();
  await changeKeptBytes(transaction, claim.projectId, less - bytes);
  onExceeded?.();
  return true;
}

/** Subtracts the bytes of deleted rows. The sorted order prevents deadlocks between two transactions. */
export async function releaseAnswerBytes(
  transaction: Transaction<Tables>,
  deleted: readonly { readonly project_id: string; readonly answer_bytes: number }[],
): Promise<void> {
  const sums = new Map<string, number>();
  for (const { project_id, answer_bytes } of deleted)
    if (answer_bytes > 0) sums.set(project_id, (sums.get(project_id) ?? 0) + answer_bytes);
  for (const [projectId, bytes] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
    await changeKeptBytes(transaction, projectId, -bytes);
}

/**
 * Locks the sum of the project until the commit.
 * @returns the new sum
 */
async function changeKeptBytes(transaction: Transaction<Tables>, projectId: string, change: number): Promise<number> {
  const { bytes } = await transaction
    .insertInto('kept_answer_usage')
    .values({ project_id: projectId, bytes: change })
    .onConflict((conflict) =>
      conflict
        .column('project_id')
        .doUpdateSet((set) => ({ bytes: set('kept_answer_usage.bytes', '+', set.ref('excluded.bytes')) })),
    )
    .returning('bytes')
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

/**
 * Selects the row of a claim that is still held. A later holder has a later end, and an answered request has an answer.
 */
export function held(db: Kysely<Tables>, claim: HeldClaim) {
  return db
    .updateTable('idempotency')
    .where('project_id', '=', claim.projectId)
    .where('operation', '=', claim.operation)
    .where('key', '=', claim.key)
    .where('caller_id', '=', claim.callerId)
    .where('expires_at', '=', claim.heldUntil)
    .where('answer', 'is', null);
}
