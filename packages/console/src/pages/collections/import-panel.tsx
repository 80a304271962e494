import { Button, Group, Progress, Text, Title, VisuallyHidden } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { clearImports, type Import, isImported, retryImport, retryImports, useImports } from '../../api/imports.ts';
import { describeFailure, mayRetry } from '../../components/failure.tsx';
import { formatBytes } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { ColumnForm } from '../../components/records/column-form.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './import-panel.module.css';

const mostListed = 100;

/** The files that this tab imports into a collection: total progress, failures, duplicates and sheets that need columns. */
export function ImportPanel({ collection }: { collection: Collection }) {
  const { t } = useLanguage();
  const { collection_id: collectionId } = collection;
  const imports = useImports().filter((one) => one.collectionId === collectionId);
  useRefreshedRecords(collectionId, imports);
  if (imports.length === 0) return null;
  const failed = imports.filter(({ state, reason }) => state === 'failed' && mayRetry(reason));
  const isOver = imports.every(isImported);
  const listed = imports.filter(needsAttention);
  const counts = countsOf(imports);
  const sheets = collection.type === 'qa' ? imports.filter(({ state }) => state === 'done') : [];
  return (
    <section aria-labelledby="imports" className={classes.panel}>
      <Group justify="space-between">
        <Title order={2} size="h5" id="imports">
          {t('imports.title')}
        </Title>
        <Group gap="xs">
          {failed.length > 1 ? (
            <Button size="compact-sm" variant="default" onClick={() => retryImports(failed)}>
              {t('imports.tryAll', { count: failed.length })}
            </Button>
          ) : null}
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => clearImports(collectionId)}
            disabled={!imports.some(isImported)}
          >
            {t('files.clear')}
          </Button>
        </Group>
      </Group>
      <Text size="sm" data-testid="imports-total">
        {t('imports.total', counts)}
        {counts.duplicates > 0 ? ` · ${t('imports.duplicates', counts)}` : ''}
        {counts.failed > 0 ? ` · ${t('imports.failed', counts)}` : ''}
      </Text>
      <VisuallyHidden role="status">{isOver ? t('imports.over', counts) : ''}</VisuallyHidden>
      {isOver ? null : <Progress value={counts.percent} aria-label={t('imports.progress')} />}
      <ul className={classes.list}>
        {listed.slice(0, mostListed).map((one) => (
          <ImportRow key={one.id} one={one} />
        ))}
      </ul>
      {listed.length > mostListed ? (
        <Text size="xs">{t('imports.more', { count: listed.length - mostListed })}</Text>
      ) : null}
      {sheets.map(({ id, path, recordId }) =>
        recordId === null ? null : (
          <SheetColumns key={id} name={path} path={{ collection_id: collectionId, record_id: recordId }} />
        ),
      )}
    </section>
  );
}

/** The list of records below shows those that were created. */
function useRefreshedRecords(collectionId: string, imports: readonly Import[]): void {
  const queries = useQueryClient();
  const created = imports.filter(({ state }) => state === 'done').length;
  useEffect(() => {
    if (created === 0) return;
    void queries.invalidateQueries({ queryKey: ['records', collectionId] });
    void queries.invalidateQueries({ queryKey: ['files'] });
    void queries.invalidateQueries({ queryKey: ['limits'] });
  }, [queries, collectionId, created]);
}

function countsOf(imports: readonly Import[]) {
  const number = (...states: ReadonlyArray<Import['state']>) =>
    imports.filter(({ state }) => states.includes(state)).length;
  return {
    done: number('done'),
    all: imports.length,
    duplicates: number('duplicate'),
    failed: number('failed', 'refused'),
    // Files, not bytes, because the text beside the bar counts files.
    percent: (imports.filter(isImported).length / imports.length) * 100,
  };
}

function needsAttention({ state }: Import): boolean {
  return state !== 'done' && state !== 'waiting';
}

/** The sent part of a file that is being uploaded. */
function percentOf({ state, sent, bytes }: Import): string {
  return state === 'sending' && bytes > 0 ? ` · ${Math.floor((sent / bytes) * 100)}%` : '';
}

function ImportRow({ one }: { one: Import }) {
  const { t, explain } = useLanguage();
  const { id, path: name, state, reason, recordId, collectionId } = one;
  const isBad = state === 'failed' || state === 'refused';
  const why = reason === 'connection' ? t('files.connection') : reason === null ? '' : describeFailure(reason, explain);
  return (
    <li className={classes.row} data-name={name} data-state={state}>
      <div className={classes.words}>
        <div className={classes.name}>{name}</div>
        <Text size="xs" c={isBad ? 'var(--mantine-color-red-light-color)' : 'dimmed'}>
          {isBad ? why : `${formatBytes(one.bytes)} · ${t(`imports.state.${state}`)}${percentOf(one)}`}
          {state === 'duplicate' && recordId !== null ? (
            <>
              {' '}
              <Link to="/collections/$collectionId/records/$recordId" params={{ collectionId, recordId }}>
                {t('imports.showDuplicate', { name })}
              </Link>
            </>
          ) : null}
        </Text>
      </div>
      {(state === 'failed' && mayRetry(reason)) || state === 'duplicate' ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon name={state === 'failed' ? 'refresh' : 'plus'} size={14} />}
          aria-label={t(state === 'failed' ? 'imports.tryAgainName' : 'imports.addAnywayName', { name })}
          onClick={() => retryImport(id)}
        >
          {t(state === 'failed' ? 'action.retry' : 'imports.addAnyway')}
        </Button>
      ) : null}
    </li>
  );
}

interface SheetColumnsProps {
  readonly name: string;
  readonly path: { readonly collection_id: string; readonly record_id: string };
}

/** Asks for the columns of a sheet whose columns the service did not find. */
function SheetColumns({ name, path }: SheetColumnsProps) {
  const record = useQuery({
    queryKey: ['record', path],
    queryFn: () => filesApi.data('GET /v1/collections/{collection_id}/records/{record_id}', { path }),
    refetchInterval: ({ state }) => (state.data?.status === 'creating' ? 1000 : false),
  });
  const proposal = record.data?.error?.details?.[0]?.sheets[0];
  if (proposal === undefined) return null;
  return <ColumnForm key={record.data?.updated_timestamp} path={path} proposal={proposal} name={name} />;
}
