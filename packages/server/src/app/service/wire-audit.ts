import { auditRoutes } from '../../access/audit/routes.ts';
import { sweepAudit } from '../../platform/audit/audit-repository.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import { createAuditRepository } from '../../storage/repositories/audit-repository.ts';
import type { ServiceContext } from './context.ts';

const sweepPauseMs = 3_600_000;

/** Serves the audit log, and deletes the events that are older than the retention. */
export function serveAudit({ database, clock, startTasks }: ServiceContext, app: App, guard: ManagerGuard): void {
  const events = createAuditRepository(database);
  const sweep = { name: 'forget audit events', pause: sweepPauseMs, run: () => sweepAudit(events, clock.now()) };
  startTasks([sweep]);
  auditRoutes(app, { events, guard, clock });
}
