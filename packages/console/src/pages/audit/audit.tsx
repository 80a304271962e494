import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { type AuditEvent, auditActionNames } from '@quartermaster/contract';
import { filesApi } from '../../api/addresses.ts';
import { useDownload } from '../../api/downloads.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { usePageChoice, usePageText } from '../../app/page-state.ts';
import { Empty } from '../../components/empty.tsx';
import { formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { InfiniteList } from '../../components/infinite-list.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from '../runs/runs.module.css';

/** The filters in the URL, and the query that they make. */
function useFilters() {
  const [action, setAction] = usePageChoice('action', ['', ...auditActionNames], 'replace');
  const actor = usePageText('actor');
  const object = usePageText('object');
  const from = usePageText('from');
  const to = usePageText('to');
  const query = {
    action: action || undefined,
    actor: actor[0].trim() || undefined,
    object: object[0].trim() || undefined,
    from: startOf(from[0]),
    to: startOf(to[0], 1),
  };
  return { query, action, setAction, texts: { actor, object, from, to } };
}

/** The audit log, with filters and an export. */
export function Audit() {
  const { t } = useLanguage();
  const { busy, download } = useDownload();
  const filters = useFilters();
  const { query } = filters;
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  const list = useInfiniteList({
    queryKey: ['audit', query],
    load: (page, signal) => filesApi.json('GET /v1/audit_events', { query: { ...page, ...query }, signal }),
    idOf: (event) => event.audit_event_id,
  });
  const exported = () => filesApi.send('GET /v1/audit_events/export', { query });
  return (
    <>
      <PageHead
        title={t('audit.title')}
        about={t('audit.about')}
        actions={
          <Button
            variant="light"
            loading={busy}
            leftSection={<Icon name="download" size={16} />}
            onClick={() => void download('audit-log.jsonl', exported)}
          >
            {t('audit.export')}
          </Button>
        }
      />
      <Filters {...filters} />
      <ListCount list={list} isAnnounced={false} />
      <InfiniteList
        list={list}
        label={t('audit.list')}
        rowHeight={66}
        empty={<Empty icon="search" title={t(isFiltered ? 'audit.noneFound' : 'audit.none')} />}
      >
        {(event) => <EventRow event={event} />}
      </InfiniteList>
    </>
  );
}

function Filters({ action, setAction, texts }: ReturnType<typeof useFilters>) {
  const { t } = useLanguage();
  return (
    <div className={classes.filters}>
      <NativeSelect
        label={t('audit.action')}
        value={action}
        onChange={(event) => setAction(event.currentTarget.value)}
        data={[{ value: '', label: t('audit.allActions') }, ...auditActionNames]}
      />
      {(['actor', 'object', 'from', 'to'] as const).map((name) => {
        const [text, type] = texts[name];
        return (
          <TextInput
            key={name}
            type={name === 'from' || name === 'to' ? 'date' : 'text'}
            label={t(`audit.${name}`)}
            value={text}
            maxLength={256}
            onChange={(event) => type(event.currentTarget.value)}
          />
        );
      })}
    </div>
  );
}

/** Returns the start of a day, or of a later day, in the time zone of the browser. Undefined without a date. */
function startOf(date: string, later = 0): number | undefined {
  const day = new Date(`${date}T00:00`);
  day.setDate(day.getDate() + later);
  return day.getTime() >= 0 ? day.getTime() : undefined;
}

function EventRow({ event }: { event: AuditEvent }) {
  const { t, code } = useLanguage();
  const { actor_kind, actor_id, object_id, details, client_address } = event;
  const facts = Object.entries(details).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return (
    <div className={classes.row} data-event={event.audit_event_id}>
      <span className={classes.words}>
        <span className={classes.name}>
          {event.action} {object_id}
        </span>
        <Text size="xs" c="dimmed" component="span" className={classes.cut} title={facts.join(', ')}>
          {[`${t(`audit.kind.${actor_kind}`)} ${actor_id ?? ''}`.trim(), client_address, ...facts]
            .filter((text) => text !== null)
            .join(' · ')}
        </Text>
      </span>
      <Text size="xs" component="span" className={classes.end}>
        {formatTime(event.created_timestamp, code)}
      </Text>
    </div>
  );
}
