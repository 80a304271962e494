import type { AuditEvent, AuditEventListQuery } from '@quartermaster/contract';
import type { Page } from '../page.ts';

/** Stores the audit log. It has no function that changes an event. */
export interface AuditRepository {
  add(event: AuditEvent): Promise<void>;
  /** Whether there is an equal event since this time, apart from its id, time and request. */
  has(event: AuditEvent, since: number): Promise<boolean>;
  /** @param projectId null for every project */
  list(projectId: string | null, query: AuditEventListQuery): Promise<Page<AuditEvent>>;
  /** Deletes events before this time, which is at least 400 days ago. @returns how many, at most `limit` */
  sweep(before: number, limit: number): Promise<number>;
}

/** Events are kept for 400 days, and the database refuses to delete newer ones. A day more, because the clocks may differ. */
const retentionMs = 401 * 86_400_000;
const rowsAtOnce = 500;

/** Deletes the events that are older than the retention. */
export async function sweepAudit(repository: Pick<AuditRepository, 'sweep'>, now: number): Promise<void> {
  while ((await repository.sweep(now - retentionMs, rowsAtOnce)) === rowsAtOnce);
}
