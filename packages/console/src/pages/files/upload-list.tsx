import { ActionIcon, Button, Group, Progress, Text, Title, VisuallyHidden } from '@mantine/core';
import {
  cancelUpload,
  clearUploads,
  isOver,
  pauseUpload,
  resumeUpload,
  type Upload,
  useUploads,
} from '../../api/uploads.ts';
import { mayRetry } from '../../components/failure.tsx';
import { formatBytes } from '../../components/format.ts';
import { Icon, type IconName } from '../../components/icons.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './files.module.css';

/** Current uploads, newest first. */
export function UploadList() {
  const { t } = useLanguage();
  const uploads = useUploads();
  if (uploads.length === 0) return null;
  return (
    <section aria-label={t('files.uploads')}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {t('files.uploads')}
        </Title>
        <Button size="compact-sm" variant="subtle" onClick={clearUploads} disabled={!uploads.some(isOver)}>
          {t('files.clear')}
        </Button>
      </Group>
      <VisuallyHidden role="status">
        {uploads.every(isOver) ? t('files.uploadsOver', countsOf(uploads)) : ''}
      </VisuallyHidden>
      <div className={classes.uploads}>
        {uploads.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </div>
    </section>
  );
}

function countsOf(uploads: readonly Upload[]) {
  return { done: uploads.filter(({ state }) => state === 'done').length, all: uploads.length };
}

function UploadRow({ upload }: { upload: Upload }) {
  const { t } = useLanguage();
  const { id, name, state } = upload;
  const percent = upload.bytes === 0 ? 100 : (upload.sent / upload.bytes) * 100;
  const isMoving = state === 'sending' || state === 'checking';
  return (
    <div className={classes.upload} data-state={state} data-name={name}>
      <div className={classes.name}>
        <div className={classes.cut}>{name}</div>
        <Text
          size="xs"
          c={state === 'failed' ? 'var(--mantine-color-red-light-color)' : 'dimmed'}
          role={state === 'failed' ? 'alert' : undefined}
        >
          <Words upload={upload} />
        </Text>
      </div>
      <Group gap={4} wrap="nowrap">
        {isMoving ? <Act icon="pause" label={t('files.pause', { name })} onClick={() => pauseUpload(id)} /> : null}
        {state === 'paused' ? (
          <Act icon="play" label={t('files.resume', { name })} onClick={() => resumeUpload(id)} />
        ) : null}
        {(state === 'failed' && mayRetry(upload.error)) || state === 'cancelled' ? (
          <Act icon="refresh" label={t('files.tryAgain', { name })} onClick={() => resumeUpload(id)} />
        ) : null}
        {isOver(upload) ? null : (
          <Act icon="close" label={t('files.cancel', { name })} onClick={() => cancelUpload(id)} />
        )}
        {state === 'done' ? <Icon name="check" /> : null}
      </Group>
      {isMoving ? (
        <Progress
          className={classes.bar}
          value={percent}
          size="sm"
          animated={state === 'checking'}
          aria-label={`${name}: ${Math.round(percent)}%`}
        />
      ) : null}
    </div>
  );
}

function Words({ upload }: { upload: Upload }) {
  const { t, explain } = useLanguage();
  const total = formatBytes(upload.bytes);
  switch (upload.state) {
    case 'waiting':
      return `${total} · ${t('files.waiting')}`;
    case 'sending':
      return t('files.speed', { done: formatBytes(upload.sent), total, speed: formatBytes(upload.speed) });
    case 'checking':
      return `${total} · ${t('files.checking')}`;
    case 'paused':
      return `${total} · ${t('files.paused')}`;
    case 'cancelled':
      return t('files.cancelled');
    case 'done':
      return `${total} · ${t('files.done')}`;
    case 'failed':
      return upload.error === null || upload.error === 'connection' ? t('files.connection') : explain(upload.error);
  }
}

function Act({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      c="var(--mantine-color-text)"
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} size={16} />
    </ActionIcon>
  );
}
