import { Button, NativeSelect, Stack, Text } from '@mantine/core';
import { type Limits, purposeNames, type File as StoredFile } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { whenStored } from '../../api/uploads.ts';
import { usePageChoice, usePageText } from '../../app/page-state.ts';
import { useMay } from '../../app/project.tsx';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatBytes } from '../../components/format.ts';
import { ConfirmButton } from '../../components/forms/confirm-button.tsx';
import { Icon } from '../../components/icons.tsx';
import { InfiniteList } from '../../components/infinite-list.tsx';
import { Filters } from '../../components/lists/filters.tsx';
import {
  SelectableRow,
  type Selection,
  SelectionBar,
  useForEach,
  useSelection,
} from '../../components/lists/selection.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { AddToCollection } from './add-to-collection.tsx';
import { FileDetails } from './file-details.tsx';
import { FileRow } from './file-row.tsx';
import { UploadArea } from './upload-area.tsx';
import { UploadList } from './upload-list.tsx';

/** The files of the project, and current uploads. */
export function Files() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const mayChange = useMay('change');
  const limits = useQuery({ queryKey: ['limits'], queryFn: () => filesApi.data('GET /v1/limits') });
  useEffect(() => {
    whenStored(() => {
      void queries.invalidateQueries({ queryKey: ['files'] });
      void queries.invalidateQueries({ queryKey: ['limits'] });
    });
  }, [queries]);
  return (
    <>
      <PageHead title={t('nav.files')} about={<About limits={limits.data} />} />
      <Stack gap="lg">
        {limits.error === null ? null : <Failure error={limits.error} />}
        {limits.error === null && mayChange ? <UploadArea limits={limits.data} /> : null}
        <UploadList />
        <FileList />
      </Stack>
    </>
  );
}

function About({ limits }: { limits: Limits | undefined }) {
  const { t } = useLanguage();
  if (limits === undefined) return t('files.about');
  const { bytes_used: bytes, max_bytes: most } = limits.quota;
  const used = formatBytes(bytes ?? 0); // a number for sessions
  const quota = most === null ? t('files.used', { used }) : t('files.quota', { used, most: formatBytes(most) });
  return `${t('files.about')} ${quota}`;
}

const purposeFilters = ['', ...purposeNames] as const;

function FileList() {
  const { t } = useLanguage();
  const [text, setText] = usePageText('name');
  const [purpose, setPurpose] = usePageChoice('purpose', purposeFilters, 'replace');
  const [chosen, setChosen] = useState<StoredFile | null>(null);
  const name = useDeferredValue(text.trim());
  const isFiltered = name !== '' || purpose !== '';
  const selection = useSelection(`${purpose} ${name}`);
  const remove = useDeleteFiles(selection);
  const query = { name: name || undefined, purpose: purpose || undefined };
  const list = useInfiniteList({
    queryKey: ['files', 'list', query],
    load: (page, signal) => filesApi.json('GET /v1/files', { query: { ...page, ...query }, signal }),
    idOf: (file) => file.file_id,
  });
  return (
    <div>
      <Filters name={text} onName={setText}>
        <NativeSelect
          aria-label={t('files.purpose')}
          value={purpose}
          onChange={(event) => setPurpose(event.currentTarget.value)}
          data={[
            { value: '', label: t('files.allPurposes') },
            { value: 'record_file', label: t('files.purpose.record_file') },
            { value: 'document_file', label: t('files.purpose.document_file') },
            { value: 'qa_record_file', label: t('files.purpose.qa_record_file') },
          ]}
        />
      </Filters>
      <SelectionBar selection={selection} list={list} loaded={list.items.map(list.idOf)}>
        <AddButton files={list.items.filter(({ file_id: id }) => selection.ids.has(id))} />
        <ConfirmButton
          icon="trash"
          look={{ variant: 'light', color: 'red', size: 'xs' }}
          title={t('files.deleteMany', { count: selection.ids.size })}
          action={t('action.delete')}
          onConfirm={remove}
        >
          {t('files.deleteManyAbout')}
        </ConfirmButton>
      </SelectionBar>
      <InfiniteList list={list} empty={<NoFiles isFiltered={isFiltered} />} label={t('files.list')} rowHeight={60}>
        {(file) => (
          <SelectableRow selection={selection} id={file.file_id} name={file.file_name}>
            <FileRow file={file} onOpen={() => setChosen(file)} />
          </SelectableRow>
        )}
      </InfiniteList>
      {list.isFetchingNextPage ? (
        <Text size="sm" c="dimmed" mt="xs">
          {t('loading')}…
        </Text>
      ) : null}
      {chosen === null ? null : <FileDetails file={chosen} onClose={() => setChosen(null)} />}
    </div>
  );
}

function AddButton({ files }: { files: readonly StoredFile[] }) {
  const { t } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name="plus" size={16} />}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {t('files.addTo')}
      </Button>
      {isOpen ? <AddToCollection files={files} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** Deletes the chosen files. Those that fail stay chosen. */
function useDeleteFiles(selection: Selection) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const forEach = useForEach();
  return async () => {
    const count = selection.ids.size;
    const failed = await forEach(selection.ids, (id) =>
      filesApi.json('DELETE /v1/files/{file_id}', { path: { file_id: id } }),
    );
    await queries.invalidateQueries({ queryKey: ['files'] });
    await queries.invalidateQueries({ queryKey: ['limits'] });
    if (count > failed.length) say(t('files.deletedMany', { count: count - failed.length }));
    selection.choose(failed);
  };
}

function NoFiles({ isFiltered }: { isFiltered: boolean }) {
  const { t } = useLanguage();
  if (isFiltered) return <Empty icon="search" title={t('files.noneFound')} />;
  return (
    <Empty icon="files" title={t('files.none')}>
      {t('files.noneAbout')}
    </Empty>
  );
}
