import { exceptions, type QueueDescription, queues } from '../../packages/server/src/platform/admission/queues.ts';

/** Renders docs/reference/admission.md. */
export function describeAdmission(): string {
  const rows = Object.entries<QueueDescription>(queues).map(([name, queue]) => {
    const {
      entries,
      atOnce,
      waiting,
      dividedBy,
      keepsPlaces = false,
      shares = 'a half and a quarter',
      whenFull,
    } = queue;
    const share = waiting === undefined ? shares : keepsPlaces ? 'turns, kept permits' : 'turns';
    return `| \`${name}\` | ${entries} | ${show(atOnce)} | ${show(waiting ?? '–')} | ${share} | ${dividedBy === undefined ? 'a node' : 'the store'} | ${whenFull} |`;
  });
  return [
    '# Admission',
    '',
    'Generated from `packages/server/src/platform/admission/queues.ts` by `npm run reference`; do not edit.',
    '',
    'Every queue, pool and counter that takes work of callers uses one component, with the exceptions below. It shares by project, then by key. Callers',
    'without a key count as one project with one key. Each node counts by itself.',
    '',
    '* **Turns.** Waiting entries start in turn among projects, then among the keys of a project. The owner with the fewest running entries is next.',
    '* **Kept permits.** One more permit is kept for a project that runs nothing, and one for a key that runs nothing while its',
    '  project does. A long task of one caller therefore never occupies the whole pool. While the permit for projects is in use too,',
    '  projects that run nothing wait in turn: at most one entry of each other project starts before the first of such a project.',
    '  Only the permit for keys is independent of this order.',
    '* **A full queue** refuses the newest entry of the project that waits most, and of its key that waits most, with 429 and',
    '  `Retry-After`. The new entry takes the place that becomes free.',
    '* **Places** belong to entries that cannot be displaced, such as open streams and accepted runs. A project takes at most half',
    '  of the places that the other projects leave. A key takes at most half of what its project may take and its other keys leave.',
    '  A single project therefore gets a half, and a single key a quarter. A project that holds no place gets any free one. When all',
    '  places are held, every new entry is refused until one becomes free.',
    '* **Bounds of the store** are divided by the number of nodes that serve the address: with four nodes, each has a quarter of the places, rounded',
    '  up, and of the shares of projects and keys. Balance the requests of a key over all nodes. Nodes count each other every 5 s. After a node has',
    '  started, all together may hold more for 5 s; after one was killed, less for 20 s. Each node always gives a key one place.',
    '  **Bounds of a node** protect its memory and processors: four nodes do four times as much.',
    '',
    '`quartermaster_queue_running`, `quartermaster_queue_waiting` and `quartermaster_queue_refused_total` have the label `queue`.',
    '',
    'Rate limits are rules of projects, and are counted in the database for all nodes: see [operating](../guides/operating.md#rate-limits). So are',
    'quotas, waiting records and failed sign-ins.',
    '',
    '| Queue | Entries | At once | May wait | Shares | Bounds of | When full |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    '## Exceptions',
    '',
    '| Limited or ordered | Why it does not use the component |',
    '|---|---|',
    ...Object.values(exceptions).map(({ limited, reason }) => `| ${limited} | ${reason} |`),
    '',
  ].join('\n');
}

function show(value: number | string): string {
  return typeof value === 'number' ? value.toLocaleString('en') : value;
}
