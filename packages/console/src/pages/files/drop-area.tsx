import { Button, Checkbox, Text } from '@mantine/core';
import { type Limits, type Purpose, purposeNames, purposes, purposesFor } from '@quartermaster/contract';
import { type DragEvent, useRef, useState } from 'react';
import { addUploads } from '../../api/uploads.ts';
import { formatBytes } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './files.module.css';

/** A workbook has two purposes, between which the user chooses. Other formats have the first purpose that accepts them. */
function purposeOf(name: string, areSheetsDocuments: boolean): Purpose | undefined {
  const accepted = purposesFor(extensionOf(name));
  return areSheetsDocuments && accepted.includes('document_file') && accepted.includes('qa_record_file')
    ? 'document_file'
    : accepted[0];
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
  const [areSheetsDocuments, setSheetsDocuments] = useState(false);
  const dotted = (purpose: Purpose) => purposes[purpose].extensions.map((extension) => `.${extension}`);
  const all = [...new Set(purposeNames.flatMap(dotted))];
  const most = limits?.purposes.record_file?.max_bytes ?? Number.POSITIVE_INFINITY;

  const take = (files: readonly File[]) => {
    const good = files.flatMap((file) => {
      const purpose = purposeOf(file.name, areSheetsDocuments);
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
          documents: dotted('document_file').join(' '),
          sheets: dotted('qa_record_file').join(' '),
          size: Number.isFinite(most) ? formatBytes(most) : '…',
        })}
      </Text>
      <Checkbox
        size="xs"
        label={t('files.sheetsAsDocuments')}
        checked={areSheetsDocuments}
        onChange={(event) => setSheetsDocuments(event.currentTarget.checked)}
      />
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
