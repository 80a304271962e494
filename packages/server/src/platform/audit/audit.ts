import { type AuditAction, type AuditActorKind, type AuditEvent, auditActions } from '@quartermaster/contract';
import type { Clock } from '../clock.ts';
import { idPrefixes, type NewId } from '../identifier.ts';
import { createBoundedLog } from '../log/bounded-log.ts';
import type { Logger } from '../log/logger.ts';
import { clientAddress, identityOf, type ReceivedRequest } from '../log/request-identity.ts';
import { Problem } from '../problem.ts';
import type { AuditRepository } from './audit-repository.ts';

/** Who acts, and through which request. */
export interface AuditSource extends Sender {
  readonly actorKind: AuditActorKind;
  readonly actorId: string | null;
  /** The project of the caller, which is that of the object by default. */
  readonly projectId?: string | null;
}

export interface Sender {
  readonly clientAddress: string | null;
  readonly requestId: string | null;
}

/** The caller of a request, or another actor. */
export type AuditBy = AuditSource | ReceivedRequest;

/** What happened. */
export interface AuditFact {
  readonly action: AuditAction;
  /** The id of the object. */
  readonly id: string | null;
  /** The project of the object. Default: that of the caller. */
  readonly projectId?: string | null;
  /** Small facts. Never a secret, a text of a document or a question, or the name of a document. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Fields of the log line that are not stored. */
  readonly logged?: Readonly<Record<string, unknown>>;
}

export interface Audit {
  /**
   * Logs and stores an event. Call it before the answer is sent, so that every acknowledged change has its event.
   * @param unlessSince an equal event since this time, such as that of an earlier attempt, is not repeated
   * @throws Problem SERVICE_UNAVAILABLE when it cannot be stored
   */
  record(by: AuditBy, fact: AuditFact, unlessSince?: number): Promise<void>;
  /** Logs and stores a refused sign-in, unless there were too many in this minute. Never rejects, and does not wait. */
  recordRefusal(source: AuditSource, fact: AuditFact): void;
}

export interface AuditDeps {
  readonly repository: Pick<AuditRepository, 'add' | 'has'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Anybody can cause refusals. So few of them need at most some GiB in the time for which events are kept. */
const mostRefusalsInMinute = 20;

export function createAudit({ repository, clock, newId, logger }: AuditDeps): Audit {
  function toEvent(by: AuditBy, fact: AuditFact): AuditEvent {
    const { actorKind, actorId, clientAddress, requestId, projectId = null } = 'raw' in by ? sourceOf(by) : by;
    const { object, outcome = 'done' } = auditActions[fact.action];
    return {
      object: 'AuditEvent',
      // Before the id, so that a filter from this time includes the event.
      created_timestamp: clock.now(),
      audit_event_id: newId('auditEvent'),
      project_id: fact.projectId === undefined ? projectId : fact.projectId,
      actor_kind: actorKind,
      actor_id: actorId,
      action: fact.action,
      object_kind: object,
      object_id: fact.id,
      outcome,
      details: withinBound(fact.details ?? {}),
      client_address: clientAddress,
      request_id: requestId,
    };
  }
  let latest: { readonly source: AuditSource; readonly fact: AuditFact };
  const refusals = createBoundedLog(
    {
      warn: ({ left_out }, message) => {
        const { source, fact } = latest;
        const event = toEvent(source, { ...fact, details: { ...fact.details, left_out } });
        logger.warn({ ...lineOf(event), ...fact.logged }, message);
        repository.add(event).catch((err: unknown) => logger.error({ err }, 'refused sign-in not stored'));
      },
    },
    mostRefusalsInMinute,
  );
  return {
    record: async (by, fact, unlessSince) => {
      const event = toEvent(by, fact);
      try {
        if (unlessSince !== undefined && (await repository.has(event, unlessSince))) return;
        logger.info(lineOf(event), event.action.replaceAll(/[._]/g, ' '));
        await repository.add(event);
      } catch (error) {
        throw eventNotStored(error);
      }
    },
    recordRefusal: (source, fact) => {
      latest = { source, fact };
      refusals.warn({ event: fact.action }, fact.action.replaceAll('_', ' '));
    },
  };
}

/** Returns the caller of a request. */
export function sourceOf(request: ReceivedRequest): AuditSource {
  const { project: projectId = null, account, key } = identityOf(request);
  return { ...actorOf(account ?? key ?? null), ...senderOf(request), projectId };
}

export function senderOf(request: ReceivedRequest): Sender {
  return { clientAddress: clientAddress(request), requestId: request.id };
}

/** @param id of an account, a key or the consent of an application; null for a caller without one */
export function actorOf(id: string | null): Pick<AuditSource, 'actorKind' | 'actorId'> {
  if (id === null) return { actorKind: 'unknown', actorId: null };
  if (id.startsWith(idPrefixes.grant)) return { actorKind: 'application', actorId: id };
  return { actorKind: id.startsWith(idPrefixes.key) ? 'key' : 'account', actorId: id };
}

/** The service itself. */
export const serviceSource: AuditSource = {
  actorKind: 'service',
  actorId: null,
  clientAddress: null,
  requestId: null,
};

/** A command on the machine. */
export function commandSource(): AuditSource {
  return {
    ...serviceSource,
    actorKind: 'command',
    actorId: process.getuid === undefined ? null : `uid:${process.getuid()}`,
  };
}

function lineOf({ details, ...event }: AuditEvent) {
  return {
    event: event.action.replace('.', '_'),
    client: event.client_address ?? undefined,
    request_id: event.request_id ?? undefined,
    project: event.project_id ?? undefined,
    [event.actor_kind]: event.actor_id ?? undefined,
    [`${event.object_kind}_id`]: event.object_id ?? undefined,
    ...details,
  };
}

/** The bound of the details of one event, in characters. */
const mostDetails = 4096;

/** Lists that are too long become the number of their items. What is still too long then is left out. */
function withinBound(details: AuditEvent['details']): AuditEvent['details'] {
  if (JSON.stringify(details).length <= mostDetails) return details;
  const short = Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, Array.isArray(value) ? value.length : value]),
  );
  return JSON.stringify(short).length <= mostDetails ? short : { left_out: Object.keys(short).length };
}

function eventNotStored(cause: unknown): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'The audit log could not be written. Before you retry, check whether the change was made.',
    { retryAfter: 1, cause },
  );
}
