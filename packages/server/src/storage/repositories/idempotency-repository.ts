import { type ExpressionBuilder, type Kysely, sql, type Transaction } from 'kysely';
import { defaultIdempotencyTimes } from '../../platform/idempotency/idempotency.ts';
import type {
  ClaimOutcome,
  Comparison,
  CompletedClaim,
  HeldClaim,
  IdempotencyRepository,
  NewClaim,
  RequestKey,
} from '../../platform/idempotency/idempotency-repository.ts';
import { projectText } from '../../platform/project-text.ts';
import type { Database } from '../database/database.ts';
import { isNodeRunning, isOver } from '../database/lease.ts';
import type { Tables } from '../database/tables.ts';

const unlimited: KeptAnswerLimits = { maxBytes: Number.POSITIVE_INFINITY };

/** Stores remembered requests in either database. */
export function createIdempotencyRepository(
  { write, leases, dialect }: Database,
  limits: KeptAnswerLimits = unlimited,
): IdempotencyRepository {
  return {
    claim: (claim, now) => claimKey({ write, dialect }, claim, now),
    compare: (request, fingerprints, most) =>
      write.transaction().execute((transaction) => compare(transaction, { dialect, request, fingerprints, most })),
    renew: async (claim, heldUntil) => {
      const result = await held(leases, claim).set({ expires_at: heldUntil }).executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },
    complete: (claim) => write.transaction().execute((transaction) => keepAnswer(transaction, claim, limits)),
    release: (claim) => write.transaction().execute((transaction) => release(transaction, claim)),
    sweep: async (now) => {
      let deleted = 0;
      for (let last = rowsOfSweep; last === rowsOfSweep; ) {
        last = await write.transaction().execute((transaction) => sweepSome(transaction, now));
        deleted += last;
      }
      return deleted;
    },
  };
}

/** Number of rows that one statement deletes. */
const rowsOfSweep = 2000;

/**
 * Deletes the row of a claim and subtracts its bytes. When a key is claimed again after its answer has expired, the row
 * keeps its byte count until it is completed or deleted.
 */
async function release(transaction: Transaction<Tables>, claim: HeldClaim): Promise<void> {
  const deleted = await transaction
    .deleteFrom('idempotency')
    .where(isKeyOf(claim))
    .where('expires_at', '=', claim.heldUntil)
    .where('answer', 'is', null)
    .returning(['project_id', 'answer_bytes'])
    .execute();
  await releaseAnswerBytes(transaction, deleted);
}

async function sweepSome(transaction: Transaction<Tables>, now: number): Promise<number> {
  const deleted = await transaction
    .deleteFrom('idempotency')
    .where((row) =>
      row(
        row.refTuple('project_id', 'operation', 'key', 'caller_id'),
        'in',
        row
          .selectFrom('idempotency')
          .select(['project_id', 'operation', 'key', 'caller_id'])
          .where('expires_at', '<=', now)
          .where((eb) => eb.or([eb('answer', 'is not', null), eb('repeatable', '=', 1), isForgotten(now)]))
          .limit(rowsOfSweep)
          .$asTuple('project_id', 'operation', 'key', 'caller_id'),
      ),
    )
    .returning(['project_id', 'answer_bytes'])
    .execute();
  await releaseAnswerBytes(transaction, deleted);
  return deleted.length;
}

/** Stores the answer of a request whose claim is still held. Returns false when another request has claimed the key. */
export async function storeAnswer(db: Kysely<Tables> | Transaction<Tables>, claim: CompletedClaim): Promise<boolean> {
  const result = await held(db, claim)
    .set({ fingerprint: claim.fingerprint, answer: claim.answer, expires_at: claim.expiresAt })
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** True for a claim of a request that cannot be repeated, as late as an answer would be deleted. */
const isForgotten = (now: number) => sql<boolean>`(idempotency.expires_at <= ${now - defaultIdempotencyTimes.memory})`;

async function claimKey(
  { write: db, dialect }: Pick<Database, 'write' | 'dialect'>,
  claim: NewClaim,
  now: number,
): Promise<ClaimOutcome> {
  const isEnded = sql<boolean>`(idempotency.answer is null and (${isOver('idempotency.expires_at', { now, leaseUntil: claim.heldUntil })}
    or (idempotency.node_id is not null and not ${isNodeRunning(dialect, sql.ref('idempotency.node_id'))})))`;
  const row = {
    project_id: projectText(claim.projectId),
    operation: claim.operation,
    key: claim.key,
    fingerprint: null,
    answer: null,
    expires_at: claim.heldUntil,
    created_at: now,
    caller_id: claim.callerId,
    wrong_requests: 0,
    node_id: claim.nodeId,
    repeatable: Number(claim.isRepeatable),
  };
  const { project_id: _project, operation: _operation, key: _key, caller_id: _caller, ...values } = row;
  const written = await db
    .insertInto('idempotency')
    .columns(Object.keys(row) as Array<keyof typeof row>)
    // Nothing is inserted for a project that is being deleted or was deleted.
    .expression(
      sql`select ${sql.join(Object.values(row))}
        where not exists (select 1 from project_deletion where project_id = ${claim.projectId})`,
    )
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'operation', 'key', 'caller_id'])
        .doUpdateSet(values)
        .where((where) =>
          where.or([
            where.and([where('idempotency.answer', 'is not', null), where('idempotency.expires_at', '<=', now)]),
            where.and([isEnded, where('idempotency.repeatable', '=', 1)]),
            isForgotten(now),
          ]),
        ),
    )
    .returning('key')
    .executeTakeFirst();
  if (written !== undefined) return { kind: 'claimed' };
  const known = await db
    .selectFrom('idempotency')
    .select(['node_id', 'repeatable'])
    .select((select) => select('answer', 'is not', null).as('answered'))
    .select(sql<number>`case when ${isEnded} then 1 else 0 end`.as('ended'))
    .where(isKeyOf(claim))
    .executeTakeFirst();
  if (known?.answered) return { kind: 'answered' };
  if (known?.ended === 1 && known.repeatable === 0) return { kind: 'unknown' };
  // Without a row, the claim was released between the two statements. The other request has just ended, so the caller asks again.
  const nodeId = known?.node_id ?? null;
  return { kind: 'running', elsewhere: nodeId !== null && nodeId !== claim.nodeId };
}

interface CompareOptions {
  readonly dialect: Database['dialect'];
  readonly request: RequestKey;
  readonly fingerprints: readonly string[];
  readonly most: number;
}

/** Locks the row until the commit, so that each wrong repetition is counted before the next one is compared. */
async function compare(
  transaction: Transaction<Tables>,
  { dialect, request, fingerprints, most }: CompareOptions,
): Promise<Comparison> {
  const query = transaction.selectFrom('idempotency').selectAll().where(isKeyOf(request));
  const row = await (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
  if (row?.answer == null || row.fingerprint === null) return { kind: 'forgotten' };
  if (row.wrong_requests >= most) return { kind: 'closed' };
  if (fingerprints.includes(row.fingerprint)) return { kind: 'same', answer: row.answer };
  await transaction
    .updateTable('idempotency')
    .set({ wrong_requests: row.wrong_requests + 1 })
    .where(isKeyOf(request))
    .execute();
  return { kind: 'other' };
}

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
async function keepAnswer(
  transaction: Transaction<Tables>,
  claim: CompletedClaim,
  { maxBytes, onExceeded }: KeptAnswerLimits,
): Promise<boolean> {
  const before = await transaction
    .selectFrom('idempotency')
    .select('answer_bytes')
    .where(isKeyOf(claim))
    .executeTakeFirst();
  const bytes = Buffer.byteLength(claim.answer);
  const stored = await held(transaction, claim)
    .set({ fingerprint: claim.fingerprint, answer: claim.answer, answer_bytes: bytes, expires_at: claim.expiresAt })
    .executeTakeFirst();
  if (stored.numUpdatedRows !== 1n) return false;
  const sum = await changeKeptBytes(transaction, projectText(claim.projectId), bytes - (before?.answer_bytes ?? 0));
  if (sum <= maxBytes || claim.insteadOfAnswer === undefined) return true;
  const less = Buffer.byteLength(claim.insteadOfAnswer);
  await transaction
    .updateTable('idempotency')
    .set({ answer: claim.insteadOfAnswer, answer_bytes: less })
    .where(isKeyOf(claim))
    .execute();
  await changeKeptBytes(transaction, projectText(claim.projectId), less - bytes);
  onExceeded?.();
  return true;
}

/** Subtracts the bytes of deleted rows. The sorted order prevents deadlocks between two transactions. */
async function releaseAnswerBytes(
  transaction: Transaction<Tables>,
  deleted: readonly { readonly project_id: string; readonly answer_bytes: number }[],
): Promise<void> {
  const sums = new Map<string, number>();
  for (const { project_id, answer_bytes } of deleted)
    if (answer_bytes > 0) sums.set(project_id, (sums.get(project_id) ?? 0) + answer_bytes);
  for (const [project, bytes] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
    await changeKeptBytes(transaction, project, -bytes);
}

/**
 * Locks the sum of the project until the commit.
 * @returns the new sum
 */
async function changeKeptBytes(transaction: Transaction<Tables>, project: string, change: number): Promise<number> {
  const { bytes } = await transaction
    .insertInto('kept_answer_usage')
    .values({ project_id: project, bytes: change })
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
function held(db: Kysely<Tables>, claim: HeldClaim) {
  return db
    .updateTable('idempotency')
    .where(isKeyOf(claim))
    .where('expires_at', '=', claim.heldUntil)
    .where('answer', 'is', null);
}

/** A condition on the primary key of `idempotency`. */
function isKeyOf({ projectId, operation, key, callerId }: RequestKey) {
  return ({ and }: ExpressionBuilder<Tables, 'idempotency'>) =>
    and({ project_id: projectText(projectId), operation, key, caller_id: callerId });
}
