import type { Setting } from './setting.ts';
import { oneOf, wholeNumber } from './setting-checks.ts';

/** How this process uses PostgreSQL. */
export const databaseSettings = {
  DATABASE_CONNECTIONS: {
    description:
      'Open at most this many connections to PostgreSQL, for this process; one of them is kept for heartbeats and leases. The sum over all processes, and two for each command, must stay below `max_connections` of the server.',
    default: '10',
    check: wholeNumber(2, 1000),
  },
  DATABASE_DURABILITY: {
    description:
      'Require of PostgreSQL where a commit is stored before it is acknowledged: `local`, on the disk of the server; `standby`, on a synchronous standby as well (`synchronous_standby_names` is set and `synchronous_commit` is `on` or `remote_apply`). A server that is configured otherwise is refused.',
    default: 'local',
    check: oneOf(['local', 'standby']),
  },
} as const satisfies Record<string, Setting>;
