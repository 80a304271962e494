import { Button, Text } from '@mantine/core';
import { type Limits, type Purpose, purposeNames, purposes } from '@quartermaster/contract';
import { type DragEvent, useRef, useState } from 'react';
import { addUploads } from '../../api/uploads.ts';
import { formatBytes } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './files.module.css';

/** Each format belongs to one purpose. */
function purposeOf(name: string): Purpose | undefined {
  const extension = extensionOf(name).replace(/^htm$/, 'html');
  return purposeNames.find((purpose) => (purposes[purpose].extensions as readonly string[]).includes(extension));
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1).toLowerCase();
}

/** Takes dropped or chosen files. Checks format and size before sending. */
export function DropArea({ limits }: { limits: Limits | undefined }) {
  const { t } = useLanguage();
  const { showError } = useToasts();
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const dotted = (purpose: Purpose) => purposes[purpose].extensions.map((extension) => `.${extension}`);
  const all = purposeNames.flatMap(dotted);
  const most = limits?.purposes.record_file?.max_bytes ?? Number.POSITIVE_INFINITY;

  const take = (files: readonly File[]) => {
    const good = files.flatMap((file) => {
      const purpose = purposeOf(file.name);
      const parameters = { extension: extensionOf(file.name), expected: all.join(' ') };
      if (purpose === undefined) showError(`${file.name}: ${t('files.badFormat', parameters)}`);
      else if (file.size > most) {
        const sizes = { size: formatBytes(file.size), limit: formatBytes(most) };
        showError(`${file.name}: ${t('files.tooLarge', sizes)}`);
      } else return [{ file, purpose }];
      return [];
    });
    addUploads(good);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button inside does the same.
    <div
      className={classes.drop}
      data-over={isOver || undefined}
      data-testid="drop-area"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="upload" size={28} />
      <div className={classes.line}>
        <Text>{t('files.drop')}</Text>
        <Button size="compact-md" variant="light" onClick={() => input.current?.click()}>
          {t('files.choose')}
        </Button>
      </div>
      <Text size="xs" c="dimmed">
        {t('files.formats', {
          documents: dotted('record_file').join(' '),
          sheets: dotted('qa_record_file').join(' '),
          size: Number.isFinite(most) ? formatBytes(most) : '…',
        })}
      </Text>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={all.join(',')}
        onChange={(event) => {
          take([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}
