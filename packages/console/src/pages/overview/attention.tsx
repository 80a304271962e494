import { Text } from '@mantine/core';
import type { ApiKey, RunItem } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { filesApi, pluginsApi } from '../../api/addresses.ts';
import type { Sample } from '../../api/metric-history.ts';
import { total } from '../../api/metrics.ts';
import { runsKey } from '../../api/runs.ts';
import { useMay, useProjectChoice } from '../../app/project.tsx';
import { formatAge, formatBytes, formatNumber } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { Section } from '../../components/section.tsx';
import { fill, useLanguage } from '../../language/language.tsx';
import classes from './overview.module.css';
import { overviewWords } from './overview-words.ts';

interface Item {
  readonly text: string;
  readonly to?: LinkProps['to'];
  readonly search?: Readonly<Record<string, string>>;
}

/** What a person has to do something about: the disk, damaged files, failed documents and plugins, and ending keys. */
export function Attention({ sample }: { sample: Sample | undefined }) {
  const words = overviewWords[useLanguage().code];
  const items = [...useServiceItems(sample), ...usePluginItems(), ...useKeyItems()];
  if (items.length === 0 && sample === undefined) return null;
  return (
    <Section id="attention" title={words.title}>
      {items.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.none}
        </Text>
      ) : (
        <ul className={classes.attention}>
          {items.map(({ text, to, search }) => (
            <li key={text}>
              <Icon name="warning" size={16} />
              {to === undefined ? (
                text
              ) : (
                <Link to={to} search={search ?? {}}>
                  {text}
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** What the metrics tell, for those who may read them. */
function useServiceItems(sample: Sample | undefined): readonly Item[] {
  const { t, code } = useLanguage();
  const words = overviewWords[code];
  if (sample === undefined) return [];
  const of = (name: string) => total(sample, `quartermaster_${name}`);
  const free = formatBytes(of('disk_free_bytes'));
  const failed = total(sample, 'quartermaster_records', ({ status }) => status === 'error');
  const count = (value: number) => ({ count: formatNumber(value, code) });
  const items: Array<Item | false> = [
    of('blobs_damaged') > 0 && { text: t('overview.damaged', count(of('blobs_damaged'))) },
    of('blobs_orphaned') > 0 && { text: t('overview.orphaned', count(of('blobs_orphaned'))) },
    of('uploads_paused') > 0 && { text: fill(words.uploadsPaused, { free }) },
    of('uploads_paused') === 0 && of('background_work_paused') > 0 && { text: fill(words.workPaused, { free }) },
    of('embedder_paused') > 0 && { text: words.embedder },
    failed > 0 && { text: fill(words.failed, count(failed)), to: '/jobs', search: { status: 'error' } },
  ];
  return items.filter((item) => item !== false);
}

/** These outcomes are the answer to one input, or to too many of them; the plugin works. */
const usual: ReadonlySet<RunItem['outcome']> = new Set([
  'succeeded',
  'input_rejected',
  'cancelled',
  'queue_full',
  null,
]);

/** The plugins whose latest run failed. */
function usePluginItems(): readonly Item[] {
  const words = overviewWords[useLanguage().code];
  const runs = useQuery({
    queryKey: [...runsKey, 'attention'],
    queryFn: () => pluginsApi.data('GET /v1/runs', { query: { limit: 100 } }),
    refetchInterval: 30_000,
  });
  const byPlugin = Map.groupBy(runs.data ?? [], (run) => `${run.bundle_id}/${run.plugin_id ?? ''}`);
  return [...byPlugin].flatMap(([plugin, latest]) => {
    const failed = latest.filter(({ outcome }) => !usual.has(outcome)).length;
    if (usual.has(latest[0]?.outcome ?? null)) return [];
    const text = fill(words.plugin, { plugin, failed, all: latest.length });
    return [{ text, to: '/runs', search: { bundle: latest[0]?.bundle_id ?? '' } } as const];
  });
}

const weekMs = 7 * 24 * 60 * 60_000;

/** The keys of the project that end within a week, or have ended since one. */
function useKeyItems(): readonly Item[] {
  const { code } = useLanguage();
  const words = overviewWords[code];
  const { projectId } = useProjectChoice();
  const isManager = useMay('manage');
  const keys = useQuery({
    queryKey: ['keys', projectId, 'newest'],
    queryFn: () =>
      filesApi.data('GET /v1/projects/{project_id}/keys', { path: { project_id: projectId }, query: { limit: 100 } }),
    enabled: isManager,
  });
  const item = ({ name, expires_timestamp: end, revoked_timestamp: revoked }: ApiKey): readonly Item[] => {
    if (end === null || revoked !== null || Math.abs(end - Date.now()) > weekMs) return [];
    const text = fill(end > Date.now() ? words.keyEnds : words.keyEnded, { name, time: formatAge(end, code) });
    return [{ text, to: '/settings' }];
  };
  return (keys.data ?? []).flatMap(item);
}
