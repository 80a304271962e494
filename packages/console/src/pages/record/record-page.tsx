import { Alert, Button, Stack } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { filesApi, isMissing } from '../../api/addresses.ts';
import { useMay } from '../../app/project.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatTime } from '../../components/format.ts';
import { ConfirmButton } from '../../components/forms/confirm-button.tsx';
import { RenameButton } from '../../components/forms/rename-button.tsx';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ParentLink } from '../../components/parent-link.tsx';
import { ColumnForm } from '../../components/records/column-form.tsx';
import { needsPassword, PasswordForm } from '../../components/records/password-form.tsx';
import { RecordState } from '../../components/records/record-state.tsx';
import { nameOfRecord } from '../../components/records/record-words.ts';
import { useRestore } from '../../components/records/use-restore.ts';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { CorrectionLinks } from './corrected-rows.tsx';
import { Passages } from './passages.tsx';
import classes from './record.module.css';
import { RecordGone } from './record-gone.tsx';
import { Report } from './report.tsx';
import { Reprocess, UnsavedContext, useEdited, useUnsavedPassages } from './reprocess.tsx';
import { RowReport } from './row-report.tsx';

/** One record: status, parsing report and chunks. */
export function RecordPage() {
  const { t, code, explain } = useLanguage();
  const mayChange = useMay('change');
  const { collectionId, recordId } = useParams({ strict: false }) as { collectionId: string; recordId: string }; // route
  const path = { collection_id: collectionId, record_id: recordId };
  const query = useQuery({
    queryKey: ['record', path],
    queryFn: () => filesApi.data('GET /v1/collections/{collection_id}/records/{record_id}', { path }),
    refetchInterval: ({ state }) => (state.data?.status === 'creating' ? 1000 : false),
  });
  const unsaved = useUnsavedPassages();
  if (isMissing(query.error)) return <RecordGone collectionId={collectionId} />;
  if (query.error !== null) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading />;
  const record = query.data;
  const proposal = record.error?.details?.[0]?.sheets[0];
  return (
    <>
      <PageHead
        parent={
          <ParentLink to="/collections/$collectionId" params={{ collectionId }}>
            {t('collections.tab.records')}
          </ParentLink>
        }
        title={nameOfRecord(record)}
        about={`${t(`records.type.${record.type}`)} · ${t('records.chunks', { count: record.num_chunks })} · ${formatTime(record.created_timestamp, code)} · ${recordId}`}
        actions={mayChange ? <RecordActions record={record} unsaved={unsaved.count} /> : undefined}
      />
      <Stack gap="xl">
        <div className={classes.state}>
          <RecordState record={record} />
          <CorrectionLinks record={record} />
        </div>
        {record.error === null ? null : (
          <Alert color="red" variant="light" icon={<Icon name="warning" />} title={t('records.failed')}>
            {explain(record.error)}
          </Alert>
        )}
        {mayChange && needsPassword(record.error) ? <PasswordForm key={record.updated_timestamp} path={path} /> : null}
        {proposal === undefined || !mayChange ? null : (
          <ColumnForm key={record.updated_timestamp} path={path} proposal={proposal} />
        )}
        <Section id="report" title={t('records.report')}>
          <Report report={record.report} />
        </Section>
        {record.type === 'qa_sheet' ? <RowReport record={record} /> : null}
        {record.num_chunks === 0 ? null : (
          <UnsavedContext value={unsaved.note}>
            <Passages key={record.updated_timestamp} record={record} />
          </UnsavedContext>
        )}
      </Stack>
    </>
  );
}

function RecordActions({ record, unsaved }: { record: RecordItem; unsaved: number }) {
  const { t } = useLanguage();
  const { showError } = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { collection_id: collectionId, record_id: recordId } = record;
  const { sayDeleted } = useRestore(collectionId);
  const path = { collection_id: collectionId, record_id: recordId };
  const list = ['records', collectionId];
  const act = async (verb: 'retry' | 'cancel') => {
    await filesApi.json(`POST /v1/collections/{collection_id}/records/{record_id}/${verb}`, { path });
    await queries.invalidateQueries({ queryKey: ['record', path] });
    await queries.invalidateQueries({ queryKey: list });
  };
  const remove = async () => {
    const query = { restorable: true } as const;
    await filesApi.json('DELETE /v1/collections/{collection_id}/records/{record_id}', { path, query });
    await queries.invalidateQueries({ queryKey: list });
    // Unsaved text of a deleted document needs no question.
    await navigate({ to: '/collections/$collectionId', params: { collectionId }, ignoreBlocker: true });
    sayDeleted(t('records.deleted', { name: nameOfRecord(record) }), [recordId]);
  };
  const rename = async (title: string) => {
    await filesApi.json('POST /v1/collections/{collection_id}/records/{record_id}', { path, body: { title } });
    await queries.invalidateQueries({ queryKey: ['record', path] });
    await queries.invalidateQueries({ queryKey: list });
  };
  const edited = useEdited(record, unsaved);
  return (
    <>
      {/* Without a password, processing would fail again. */}
      {record.status !== 'creating' && !needsPassword(record.error) ? (
        <Reprocess record={record} edited={edited} onConfirm={() => act('retry')} />
      ) : null}
      {record.status === 'creating' ? (
        <Button
          variant="default"
          leftSection={<Icon name="pause" size={16} />}
          onClick={() => void act('cancel').catch(showError)}
        >
          {t('records.cancel')}
        </Button>
      ) : null}
      <RenameButton
        name={nameOfRecord(record)}
        about={`${t('records.renameAbout')} ${edited.warning}`}
        maxLength={255}
        onRename={rename}
      />
      <ConfirmButton
        icon="trash"
        look={{ variant: 'light', color: 'red' }}
        title={t('records.deleteTitle', { name: nameOfRecord(record) })}
        action={t('action.delete')}
        onConfirm={remove}
      >
        {t('records.deleteAbout')}
      </ConfirmButton>
    </>
  );
}
