import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { File as StoredFile } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useDownload } from '../../api/downloads.ts';
import { useMay } from '../../app/project.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatBytes, formatTime } from '../../components/format.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './files.module.css';

/** Details of a file: facts, documents created from it, download and deletion. */
export function FileDetails({ file, onClose }: { file: StoredFile; onClose: () => void }) {
  const { t } = useLanguage();
  const [isDeleting, setDeleting] = useState(false);
  const mayChange = useMay('change');
  const queries = useQueryClient();
  const { say } = useToasts();
  const { busy, download } = useDownload();
  const path = { file_id: file.file_id };
  const remove = async () => {
    await filesApi.json('DELETE /v1/files/{file_id}', { path });
    await queries.invalidateQueries({ queryKey: ['files'] });
    await queries.invalidateQueries({ queryKey: ['limits'] });
    say(t('files.deleted', { name: file.file_name }));
    onClose();
  };
  if (isDeleting) {
    return (
      <Confirm
        title={t('files.deleteTitle', { name: file.file_name })}
        action={t('action.delete')}
        onConfirm={remove}
        onClose={() => setDeleting(false)}
      >
        {t('files.deleteAbout')}
      </Confirm>
    );
  }
  return (
    <Dialog onClose={onClose} title={<span className={classes.facts}>{file.file_name}</span>} size="lg">
      <Stack gap="md">
        <Facts file={file} />
        <References fileId={file.file_id} />
        <Group gap="xs">
          <Button
            loading={busy}
            onClick={() =>
              void download(file.file_name, () => filesApi.send('GET /v1/files/{file_id}/content', { path }))
            }
            variant="default"
            leftSection={<Icon name="download" size={16} />}
          >
            {t('files.download', { name: '' })}
          </Button>
          <CopyButton text={file.file_id} label={t('files.id')} what={`${t('files.id')}: ${t('action.copy')}`} />
          {mayChange ? (
            <Button
              variant="light"
              color="red"
              ml="auto"
              leftSection={<Icon name="trash" size={16} />}
              onClick={() => setDeleting(true)}
            >
              {t('action.delete')}
            </Button>
          ) : null}
        </Group>
      </Stack>
    </Dialog>
  );
}

function Facts({ file }: { file: StoredFile }) {
  const { t, code } = useLanguage();
  return (
    <dl className={classes.facts}>
      <dt>{t('files.id')}</dt>
      <dd>
        <code>{file.file_id}</code>
      </dd>
      <dt>{t('files.size')}</dt>
      <dd>{formatBytes(file.bytes)}</dd>
      <dt>{t('files.purpose')}</dt>
      <dd>{t(`files.purpose.${file.purpose}`)}</dd>
      <dt>{t('files.uploaded')}</dt>
      <dd>{formatTime(file.created_timestamp, code)}</dd>
      <dt>{t('files.hash')}</dt>
      <dd>
        <code>{file.sha256}</code>
      </dd>
    </dl>
  );
}

function References({ fileId }: { fileId: string }) {
  const { t } = useLanguage();
  const file = useQuery({
    queryKey: ['files', fileId],
    queryFn: () => filesApi.data('GET /v1/files/{file_id}', { path: { file_id: fileId } }),
  });
  return (
    <section>
      <Title order={3} size="h6" mb={6}>
        {t('files.references')}
      </Title>
      {file.error === null ? null : <Failure error={file.error} />}
      {file.isPending ? <Loading rows={1} /> : null}
      {file.data?.references.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('files.noReferences')}
        </Text>
      ) : null}
      {file.data?.references.map(({ collection_id, record_id }) => (
        <div key={record_id}>
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link
                to="/collections/$collectionId/records/$recordId"
                params={{ collectionId: collection_id, recordId: record_id }}
                {...props}
              />
            )}
          >
            {record_id}
          </Anchor>
        </div>
      ))}
    </section>
  );
}
