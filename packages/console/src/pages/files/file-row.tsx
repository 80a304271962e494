import { ActionIcon, Text } from '@mantine/core';
import type { File as StoredFile } from '@quartermaster/contract';
import { filesApi } from '../../api/addresses.ts';
import { useDownload } from '../../api/downloads.ts';
import { formatAge, formatBytes } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './files.module.css';

export function FileRow({ file, onOpen }: { file: StoredFile; onOpen: () => void }) {
  const { t, code } = useLanguage();
  const name = file.file_name;
  const { busy, download } = useDownload();
  const read = () => filesApi.send('GET /v1/files/{file_id}/content', { path: { file_id: file.file_id } });
  return (
    <div className={classes.file}>
      <span className={classes.format} aria-hidden="true">
        {name.slice(name.lastIndexOf('.') + 1).slice(0, 4)}
      </span>
      <div className={classes.name}>
        <button type="button" className={classes.open} onClick={onOpen} title={name}>
          {name}
        </button>
        <Text size="xs" c="dimmed" className={classes.cut}>
          {formatBytes(file.bytes)} · {t(`files.purpose.${file.purpose}`)} · {formatAge(file.created_timestamp, code)}
        </Text>
      </div>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="var(--mantine-color-text)"
        loading={busy}
        onClick={() => void download(name, read)}
        aria-label={t('files.download', { name })}
        title={t('files.download', { name })}
      >
        <Icon name="download" size={16} />
      </ActionIcon>
    </div>
  );
}
