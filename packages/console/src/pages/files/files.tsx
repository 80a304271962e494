import { NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { type Limits, purposeNames, type File as StoredFile } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { whenStored } from '../../api/uploads.ts';
import { usePageChoice, usePageText } from '../../app/page-state.ts';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatBytes } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { InfiniteList } from '../../components/infinite-list.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useLanguage } from '../../language/language.tsx';
import { FileDetails } from './file-details.tsx';
import { FileRow } from './file-row.tsx';
import classes from './files.module.css';
import { UploadArea } from './upload-area.tsx';
import { UploadList } from './upload-list.tsx';

/** The files of the project, and current uploads. */
export function Files() {
  const { t } = useLanguage();
  const queries = useQueryClient();
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
        {limits.error === null ? <UploadArea limits={limits.data} /> : <Failure error={limits.error} />}
        <UploadList />
        <FileList />
      </Stack>
    </>
  );
}

function About({ limits }: { limits: Limits | undefined }) {
  const { t } = useLanguage();
  if (limits === undefined) return t('files.about');
  const { bytes_used: used, max_bytes: most } = limits.quota;
  const quota =
    most === null
      ? t('files.used', { used: formatBytes(used) })
      : t('files.quota', { used: formatBytes(used), most: formatBytes(most) });
  return `${t('files.about')} ${quota}.`;
}

const purposeFilters = ['', ...purposeNames] as const;

function FileList() {
  const { t } = useLanguage();
  const [text, setText] = usePageText('name');
  const [purpose, setPurpose] = usePageChoice('purpose', purposeFilters, 'replace');
  const [chosen, setChosen] = useState<StoredFile | null>(null);
  const name = useDeferredValue(text.trim());
  const isFiltered = name !== '' || purpose !== '';
  const query = { name: name || undefined, purpose: purpose || undefined };
  const list = useInfiniteList({
    queryKey: ['files', 'list', query],
    load: (page, signal) => filesApi.json('GET /v1/files', { query: { ...page, ...query }, signal }),
    idOf: (file) => file.file_id,
  });
  return (
    <div>
      <div className={classes.filters}>
        <TextInput
          aria-label={t('files.searchName')}
          placeholder={t('files.searchName')}
          leftSection={<Icon name="search" size={16} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          className={classes.search}
        />
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
      </div>
      <InfiniteList list={list} empty={<NoFiles isFiltered={isFiltered} />} label={t('files.list')} rowHeight={60}>
        {(file) => <FileRow file={file} onOpen={() => setChosen(file)} />}
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

function NoFiles({ isFiltered }: { isFiltered: boolean }) {
  const { t } = useLanguage();
  if (isFiltered) return <Empty icon="search" title={t('files.noneFound')} />;
  return (
    <Empty icon="files" title={t('files.none')}>
      {t('files.noneAbout')}
    </Empty>
  );
}
