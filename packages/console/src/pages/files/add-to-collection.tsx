import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import type { Collection, File as StoredFile } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { describeFailure } from '../../components/failure.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { Loading } from '../../components/loading.tsx';
import { useLanguage } from '../../language/language.tsx';
import { type AddResult, useAddFiles } from './add-files.ts';
import classes from './files.module.css';

export interface AddToCollectionProps {
  readonly files: readonly StoredFile[];
  readonly onClose: () => void;
}

/** Asks for a collection, adds the files to it, and lists what became of each. */
export function AddToCollection({ files, onClose }: AddToCollectionProps) {
  const { t } = useLanguage();
  const [chosen, setChosen] = useState('');
  const list = useInfiniteList({
    queryKey: ['collections', 'list', {}],
    load: (page, signal) => filesApi.json('GET /v1/collections', { query: page, signal }),
    idOf: (item) => item.collection_id,
  });
  const collection = list.items.find(({ collection_id: id }) => id === chosen);
  return (
    <Dialog onClose={onClose} title={t('files.addTitle', { count: files.length })} size="lg">
      {list.isPending ? (
        <Loading rows={2} />
      ) : (
        <Stack gap="md">
          <NativeSelect
            label={t('files.addWhere')}
            value={chosen}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={[
              { value: '', label: `– ${t('try.notSet')} –` },
              ...list.items.map((one) => ({
                value: one.collection_id,
                label: `${one.name || t('collections.unnamed')} (${t(`collections.kind.${one.type}`)})`,
              })),
            ]}
          />
          {list.hasNextPage ? (
            <Button size="xs" variant="default" onClick={list.loadMore}>
              {t('files.addMoreCollections')}
            </Button>
          ) : null}
          <Adding key={chosen} files={files} collection={collection} />
        </Stack>
      )}
    </Dialog>
  );
}

function Adding({ files, collection }: { files: readonly StoredFile[]; collection: Collection | undefined }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { results, add } = useAddFiles(collection);
  const [isBusy, setBusy] = useState(false);
  const summary = useRef<HTMLParagraphElement>(null);
  const inState = (state: AddResult['state']) => files.filter(({ file_id: id }) => results.get(id)?.state === state);
  const run = async (some: readonly StoredFile[], evenTwice: boolean) => {
    setBusy(true);
    await add(some, { evenTwice });
    await queries.invalidateQueries({ queryKey: ['records', collection?.collection_id] });
    setBusy(false);
    // The button that was pressed may be gone.
    summary.current?.focus();
  };
  const [failed, duplicates] = [inState('failed'), inState('duplicate')];
  const isOver = !isBusy && results.size > 0;
  return (
    <>
      {results.size === 0 ? (
        <Button disabled={collection === undefined} loading={isBusy} onClick={() => void run(files, false)}>
          {t('records.addCount', { count: files.length })}
        </Button>
      ) : null}
      <Text size="sm" role="status" ref={summary} tabIndex={-1}>
        {isOver
          ? t('files.addOver', {
              added: inState('added').length,
              all: files.length,
              duplicates: duplicates.length,
              failed: failed.length,
            })
          : ''}
      </Text>
      {isOver ? (
        <Group gap="xs">
          {failed.length === 0 ? null : (
            <Button size="xs" variant="default" onClick={() => void run(failed, false)}>
              {t('imports.tryAll', { count: failed.length })}
            </Button>
          )}
          {duplicates.length === 0 ? null : (
            <Button size="xs" variant="default" onClick={() => void run(duplicates, true)}>
              {t('files.addTwice', { count: duplicates.length })}
            </Button>
          )}
          {collection === undefined ? null : (
            <Link to="/collections/$collectionId" params={{ collectionId: collection.collection_id }}>
              {t('files.addOpen', { name: collection.name || t('collections.unnamed') })}
            </Link>
          )}
        </Group>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={classes.results} tabIndex={0} aria-label={t('files.addList')}>
        <ul>
          {files.map((file) => (
            <Row key={file.file_id} file={file} result={results.get(file.file_id)} />
          ))}
        </ul>
      </section>
    </>
  );
}

function Row({ file, result }: { file: StoredFile; result: AddResult | undefined }) {
  const { t, explain } = useLanguage();
  const isBad = result?.state === 'failed';
  const words =
    result === undefined
      ? ''
      : result.state === 'failed'
        ? describeFailure(result.reason, explain)
        : t(`files.addState.${result.state}`);
  return (
    <li data-name={file.file_name} data-state={result?.state}>
      <Text size="sm">{file.file_name}</Text>
      <Text size="xs" c={isBad ? 'var(--mantine-color-red-light-color)' : 'dimmed'}>
        {words}
      </Text>
    </li>
  );
}
