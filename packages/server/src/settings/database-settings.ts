import type { Setting } from './setting.ts';
import { oneOf, wholeNumber } from './setting-checks.ts';

/** How this process uses PostgreSQL. */
export const databaseSettings = {
  DATABASE_CONNECTIONS: {
    description:
      'Open at most this many connections to PostgreSQL in this process; one of them is reserved for heartbeats and leases. The sum over all processes, plus two for each command, must be below `max_connections` of the server',
    default: '10',
    check: wholeNumber(2, 1000),
  },
  DATABASE_DURABILITY: {
    description:
      'Require PostgreSQL to store each commit before it acknowledges it: `local` on the disk of the server; `standby` also on a synchronous standby (`synchronous_standby_names` is set and `synchronous_commit` is `on` or `remote_apply`). The service does not start with a server that is configured differently',
    default: 'local',
    check: oneOf(['local', 'standby']),
  },
} as const satisfies Record<string, Setting>;
