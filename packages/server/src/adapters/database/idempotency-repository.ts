import type { Kysely, Transaction } from 'kysely';
import type {
  ClaimOutcome,
  CompletedClaim,
  HeldClaim,
  IdempotencyRepository,
} from '../../idempotency/idempotency-repository.ts';
import type { Database } from './database.ts';
import { isOver } from './lease.ts';
import type { Tables } from './tables.ts';

/** Remembered requests over either database. Each step is one statement, so it is atomic without a transaction. */
export function createIdempotencyRepository({ write, leases }: Database): IdempotencyRepository {
  return {
    claim: (claim, now) => claimKey(write, claim, now),
    renew: async (claim, heldUntil) => {
      const result = await held(leases, claim).set({ expires_at: heldUntil }).executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },
    complete: (claim) => storeAnswer(write, claim),
    release: async (claim) => {
      await write
        .deleteFrom('idempotency')
        .where('project_id', '=', claim.projectId)
        .where('operation', '=', claim.operation)
        .where('key', '=', claim.key)
        .where('expires_at', '=', claim.heldUntil)
        .where('answer', 'is', null)
        .execute();
    },
    sweep: async (now) => {
      let deleted = 0;
      for (let last = rowsOfSweep; last === rowsOfSweep; ) {
        last = await sweepSome(write, now);
        deleted += last;
      }
      return deleted;
    },
  };
}

/** Rows that one statement forgets. */
const rowsOfSweep = 10_000;

async function sweepSome(write: Kysely<Tables>, now: number): Promise<number> {
  const result = await write
    .deleteFrom('idempotency')
    .where((row) =>
      row(
        row.refTuple('project_id', 'operation', 'key'),
        'in',
        row
          .selectFrom('idempotency')
          .select(['project_id', 'operation', 'key'])
          .where('expires_at', '<=', now)
          .limit(rowsOfSweep)
          .$asTuple('project_id', 'operation', 'key'),
      ),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Keeps the answer of a request whose claim is still held; false when somebody else took it over. */
export async function storeAnswer(db: Kysely<Tables> | Transaction<Tables>, claim: CompletedClaim): Promise<boolean> {
  const result = await held(db, claim)
    .set({ fingerprint: claim.fingerprint, answer: claim.answer, expires_at: claim.expiresAt })
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** The row of a claim while it is ours: a later holder has a later end, an answered request an answer. */
function held(db: Kysely<Tables>, claim: HeldClaim) {
  return db
    .updateTable('idempotency')
    .where('project_id', '=', claim.projectId)
    .where('operation', '=', claim.operation)
    .where('key', '=', claim.key)
    .where('expires_at', '=', claim.heldUntil)
    .where('answer', 'is', null);
}

async function claimKey(db: Kysely<Tables>, claim: HeldClaim, now: number): Promise<ClaimOutcome> {
  const row = {
    project_id: claim.projectId,
    operation: claim.operation,
    key: claim.key,
    fingerprint: null,
    answer: null,
    expires_at: claim.heldUntil,
    created_at: now,
  };
  const { project_id: _project, operation: _operation, key: _key, ...values } = row;
  const taken = await db
    .insertInto('idempotency')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'operation', 'key'])
        .doUpdateSet(values)
        .where((where) =>
          where.or([
            where('idempotency.expires_at', '<=', now),
            where.and([
              where('idempotency.answer', 'is', null),
              isOver('idempotency.expires_at', { now, leaseUntil: claim.heldUntil }),
            ]),
          ]),
        ),
    )
    .returning('key')
    .executeTakeFirst();
  if (taken !== undefined) return { kind: 'claimed' };
  const known = await db
    .selectFrom('idempotency')
    .select(['fingerprint', 'answer'])
    .where('project_id', '=', claim.projectId)
    .where('operation', '=', claim.operation)
    .where('key', '=', claim.key)
    .executeTakeFirst();
  // Released between the two statements: the other request has just ended, so asking again will do.
  if (known?.answer == null || known.fingerprint === null) return { kind: 'running' };
  return { kind: 'answered', fingerprint: known.fingerprint, answer: known.answer };
}
