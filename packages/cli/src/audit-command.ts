import { Command, InvalidArgumentError } from 'commander';
import { withAdministration } from './administration.ts';
import { type JsonOption, jsonOption, printJson, printTable, time } from './output/print.ts';

interface AuditOptions extends JsonOption {
  readonly since?: number;
}

const eventsAtOnce = 500;

/** Prints the audit log of the store. */
export function auditCommand(): Command {
  return new Command('audit')
    .description('print who changed what, oldest first')
    .option('--since <time>', 'print only events at or after this time, such as 2026-11-21T08:00Z', readTime)
    .option(...jsonOption)
    .action(({ since, json }: AuditOptions) =>
      withAdministration(async ({ events }) => {
        const filter = { order: 'asc', limit: eventsAtOnce, ...(since === undefined ? {} : { from: since }) } as const;
        for (let after: string | undefined, hasMore = true; hasMore; ) {
          const page = await events.list(null, after === undefined ? filter : { ...filter, after });
          if (json === true) for (const event of page.items) printJson(event);
          else if (after === undefined || page.items.length > 0)
            printTable(
              ['TIME', 'ACTOR', 'ACTION', 'OBJECT', 'OUTCOME', 'PROJECT'],
              page.items.map((event) => [
                time(event.created_timestamp),
                event.actor_id ?? event.actor_kind,
                event.action,
                event.object_id ?? '-',
                event.outcome,
                event.project_id ?? '-',
              ]),
            );
          after = page.items.at(-1)?.audit_event_id;
          hasMore = page.hasMore;
        }
      }),
    );
}

function readTime(text: string): number {
  const milliseconds = Date.parse(text);
  if (!(milliseconds >= 0)) throw new InvalidArgumentError('The value must be a time such as 2026-11-21T08:00Z.');
  return milliseconds;
}
