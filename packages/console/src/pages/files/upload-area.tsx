import { Checkbox } from '@mantine/core';
import { type Limits, type Purpose, purposeNames, purposes, purposesFor } from '@quartermaster/contract';
import { useState } from 'react';
import { addUploads } from '../../api/uploads.ts';
import { DropArea } from '../../components/files/drop-area.tsx';
import { type DroppedFile, extensionOf } from '../../components/files/dropped-files.ts';
import { formatBytes } from '../../components/format.ts';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';

/** A workbook has two purposes, between which the user chooses. Other formats have the first purpose that accepts them. */
function purposeOf(name: string, areSheetsDocuments: boolean): Purpose | undefined {
  const accepted = purposesFor(extensionOf(name));
  return areSheetsDocuments && accepted.includes('document_file') && accepted.includes('qa_record_file')
    ? 'document_file'
    : accepted[0];
}

/** Uploads dropped or chosen files. Checks format and size before sending. */
export function UploadArea({ limits }: { limits: Limits | undefined }) {
  const { t } = useLanguage();
  const { showError } = useToasts();
  const [areSheetsDocuments, setSheetsDocuments] = useState(false);
  const dotted = (purpose: Purpose) => purposes[purpose].extensions.map((extension) => `.${extension}`);
  const all = [...new Set(purposeNames.flatMap(dotted))];
  const most = limits?.purposes.record_file?.max_bytes ?? Number.POSITIVE_INFINITY;

  const take = (files: readonly DroppedFile[]) => {
    const good = files.flatMap(({ file }) => {
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
  const about = t('files.formats', {
    documents: dotted('document_file').join(' '),
    sheets: dotted('qa_record_file').join(' '),
    size: Number.isFinite(most) ? formatBytes(most) : '…',
  });
  return (
    <DropArea extensions={all} about={about} onFiles={take}>
      <Checkbox
        size="xs"
        label={t('files.sheetsAsDocuments')}
        checked={areSheetsDocuments}
        onChange={(event) => setSheetsDocuments(event.currentTarget.checked)}
      />
    </DropArea>
  );
}
